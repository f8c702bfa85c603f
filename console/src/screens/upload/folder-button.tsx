// Chooses a whole folder.
import { Button } from '@mantine/core';
import { useRef } from 'react';

type FolderProps = { readonly onFiles: (files: readonly File[]) => void };

export function FolderButton({ onFiles }: FolderProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Folder to upload"
        {...{ webkitdirectory: '' }}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same folder may be chosen again.
          currentTarget.value = '';
        }}
      />
      <Button variant="default" onClick={() => input.current?.click()}>
        Choose a folder
      </Button>
    </>
  );
}
