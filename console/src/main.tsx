// Starts the console.
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/dropzone/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { endSession, isSignedOut, sessionQuery } from './api/session.ts';
import { App } from './app.tsx';
import { nonce, readableColors, theme } from './theme.ts';

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== sessionQuery.queryKey[0]) endSession(queries);
    },
  }),
  // The client repeats transient failures itself.
  defaultOptions: { queries: { retry: false, staleTime: 2000 } },
});

const root = document.getElementById('root');
if (!root) throw new Error('the page has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readableColors}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <Router base={new URL('.', document.baseURI).pathname.replace(/\/$/, '')}>
          <App />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
