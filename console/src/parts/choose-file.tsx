// A button that opens the dialog for one file. The same file may be chosen again.
import { Button, FileButton } from '@mantine/core';
import { useRef } from 'react';

type ChooseFileProps = {
  readonly children: string;
  /** Types as in `<input accept>`. */
  readonly accept: string;
  readonly loading: boolean;
  readonly onFile: (file: File) => void;
};

export function ChooseFile({ children, accept, loading, onFile }: ChooseFileProps) {
  const resetInput = useRef<() => void>(null);
  const choose = (file: File | null): void => {
    resetInput.current?.();
    if (file) onFile(file);
  };
  return (
    <FileButton resetRef={resetInput} onChange={choose} accept={accept}>
      {(props) => (
        <Button {...props} loading={loading}>
          {children}
        </Button>
      )}
    </FileButton>
  );
}
