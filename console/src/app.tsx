// The screens and their addresses.
import { Center, Loader } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { useLiveAssets } from './api/live.ts';
import { useSession } from './api/session.ts';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { ForOperators } from './parts/for-operators.tsx';
import { NothingHere } from './parts/nothing-here.tsx';
import { useScrollToTop } from './shell/scroll-to-top.ts';
import { Shell } from './shell/shell.tsx';
import { SignIn } from './shell/sign-in.tsx';

const Start = lazy(async () => ({ default: (await import('./screens/start/start.tsx')).Start }));
const Library = lazy(async () => ({ default: (await import('./screens/library/library.tsx')).Library }));
const AssetScreen = lazy(async () => ({
  default: (await import('./screens/asset/asset-screen.tsx')).AssetScreen,
}));
const UploadScreen = lazy(async () => ({
  default: (await import('./screens/upload/upload-screen.tsx')).UploadScreen,
}));
const Collections = lazy(async () => ({
  default: (await import('./screens/collections/collections.tsx')).Collections,
}));
const CollectionScreen = lazy(async () => ({
  default: (await import('./screens/collections/collection-screen.tsx')).CollectionScreen,
}));
const Webhooks = lazy(async () => ({ default: (await import('./screens/webhooks/webhooks.tsx')).Webhooks }));
const DeliveryScreen = lazy(async () => ({
  default: (await import('./screens/webhooks/inbox/delivery-screen.tsx')).DeliveryScreen,
}));
const EndpointScreen = lazy(async () => ({
  default: (await import('./screens/webhooks/endpoints/endpoint-screen.tsx')).EndpointScreen,
}));

export const App = () => (
  <ErrorBoundary>
    <Suspense fallback={<Waiting />}>
      <SignedIn />
    </Suspense>
  </ErrorBoundary>
);

/** Those who are not operators see a sentence in their place. */
const OPERATOR_SCREENS = {
  '/work': lazy(async () => ({ default: (await import('./screens/work/work.tsx')).Work })),
  '/health': lazy(async () => ({ default: (await import('./screens/health/health.tsx')).Health })),
  '/owners': lazy(async () => ({ default: (await import('./screens/owners/owners.tsx')).Owners })),
  '/keys': lazy(async () => ({ default: (await import('./screens/keys/keys.tsx')).Keys })),
} as const;

function SignedIn() {
  const session = useSession();
  useScrollToTop();
  if (!session) return <SignIn />;
  return (
    <Shell session={session}>
      <LiveAssets session={session} />
      <ErrorBoundary>
        <Suspense fallback={<Waiting />}>
          <Switch>
            <Route path="/">
              <Start session={session} />
            </Route>
            <Route path="/upload">
              <UploadScreen session={session} />
            </Route>
            <Route path="/library">
              <Library session={session} />
            </Route>
            <Route path="/collections">
              <Collections session={session} />
            </Route>
            <Route path="/collections/:id">
              {({ id }) => <CollectionScreen key={id} id={id} session={session} />}
            </Route>
            {Object.entries(OPERATOR_SCREENS).map(([path, Screen]) => (
              <Route key={path} path={path}>
                <ForOperators session={session}>
                  <Screen />
                </ForOperators>
              </Route>
            ))}
            <Route path="/assets/:id">{({ id }) => <AssetScreen key={id} id={id} session={session} />}</Route>
            <Route path="/webhooks">
              <Webhooks session={session} view="inbox" />
            </Route>
            <Route path="/webhooks/endpoints">
              <Webhooks session={session} view="endpoints" />
            </Route>
            <Route path="/webhooks/deliveries/:id">{({ id }) => <DeliveryScreen key={id} id={id} />}</Route>
            <Route path="/webhooks/endpoints/:id">{({ id }) => <EndpointScreen key={id} id={id} />}</Route>
            <Route>
              <NothingHere isPage title="No such page" text="The address has no page of the console." />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

function LiveAssets({ session }: { readonly session: ConsoleSession }) {
  useLiveAssets(session);
  return null;
}

const Waiting = () => (
  <Center mih={240}>
    <Loader aria-label="Loading" />
  </Center>
);
