// Shows what a screen throws, instead of an empty page.
import { QueryErrorResetBoundary } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { useLocation } from 'wouter';
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
    return caught ? <Problem error={caught.error} onRetry={this.reset} /> : this.props.children;
  }
}

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
