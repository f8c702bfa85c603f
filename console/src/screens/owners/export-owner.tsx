// Gives everything of an owner as one archive: from this page, or by the command line where it is large.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ownerQuery, saveExport } from '../../api/owners.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Section } from '../../parts/section.tsx';

/** The browser holds the archive until it is saved. */
const MAX_BYTES = 1_000_000_000;

export function ExportOwner({ owner }: { readonly owner: string }) {
  const { data } = useQuery(ownerQuery(owner));
  const isLarge = data !== undefined && data.bytes > MAX_BYTES;
  return (
    <Section
      title="Export"
      about="A tar archive of originals, captions, details and timelines, the trash included."
      aside={
        data &&
        !isLarge && (
          <ActionButton
            label="Save the archive"
            done="The archive is complete."
            action={() => saveExport(owner)}
          />
        )
      }
    >
      <Text size="sm">
        {isLarge ? 'It is too large for a browser. Use the command line:' : 'By the command line:'}
      </Text>
      <CopyText label="the command" text={`npx mediary owners export -o owner.tar ${quote(owner)}`} />
    </Section>
  );
}

/** For a POSIX shell; an id may begin with a dash. */
const quote = (text: string): string => {
  const quoted = /^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  return text.startsWith('-') ? `-- ${quoted}` : quoted;
};
