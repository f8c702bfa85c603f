// Shows a screen to operators, and tells others why they do not see it.
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { NothingHere } from './nothing-here.tsx';

type OperatorProps = { readonly session: ConsoleSession; readonly children: ReactNode };

export const ForOperators = ({ session, children }: OperatorProps) =>
  session.kind === 'operator' ? (
    children
  ) : (
    <NothingHere
      isPage
      title="Only for operators"
      text="Sign out, then sign in with the operator key or a link of mediary console, to see this page."
    >
      <Button component={Link} href="/library" variant="default">
        Show the library
      </Button>
    </NothingHere>
  );
