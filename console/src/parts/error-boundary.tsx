// Shows what a screen throws, instead of an empty page.
import { Button } from '@mantine/core';
import { QueryErrorResetBoundary } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { isNotFound } from '../api/assets.ts';
import { NothingHere } from './nothing-here.tsx';
import { Problem } from './problem.tsx';

type Props = { readonly children: ReactNode; readonly place: string; readonly onReset: () => void };
type Caught = { readonly error: unknown; readonly place: string } | undefined;

/** React catches errors of a tree by a class alone. Another address is another try. */
class Catcher extends Component<Props, { readonly caught: Caught }> {
  override state: { readonly caught: Caught } = { caught: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { caught: { error, place: location.href } };
  }

  override componentDidUpdate({ place }: Props) {
    if (this.state.caught && place !== this.props.place) this.reset();
  }

  reset = () => {
    this.props.onReset();
    this.setState({ caught: undefined });
  };

  override render() {
    const { caught } = this.state;
    if (!caught) return this.props.children;
    if (isNotFound(caught.error)) return <NotFound message={caught.error.message} />;
    return <Problem error={caught.error} onRetry={this.reset} />;
  }
}

const NotFound = ({ message }: { readonly message: string }) => (
  <NothingHere
    isPage
    title="Not found"
    text={`${message.replace(/\.$/, '')}. It was deleted, or the address is wrong.`}
  >
    <Button component={Link} href="/library" variant="default">
      Show the library
    </Button>
  </NothingHere>
);

export function ErrorBoundary({ children }: { readonly children: ReactNode }) {
  const [place] = useLocation();
  return (
    <QueryErrorResetBoundary>
      {({ reset }) => (
        <Catcher place={place} onReset={reset}>
          {children}
        </Catcher>
      )}
    </QueryErrorResetBoundary>
  );
}
