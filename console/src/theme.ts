// Colours and defaults of the console.
import {
  Alert,
  Badge,
  Modal,
  Notification,
  type CSSVariablesResolver,
  createTheme,
  Loader,
  type MantineColorsTuple,
} from '@mantine/core';

/** The page allows only styles with this nonce. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

/** Where the scroll lock of dialogs looks for the nonce of its style. */
Object.assign(globalThis, { __webpack_nonce__: nonce });

/** From the icon: `#2a6f97`. */
const SEA: MantineColorsTuple = [
  '#eaf4f9',
  '#d6e6ef',
  '#aacce0',
  '#7bb1d1',
  '#559ac4',
  '#3d8bbc',
  '#2f84b9',
  '#2a6f97',
  '#236489',
  '#0f5679',
];

const CLOSE = { 'aria-label': 'Close' };

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: 7,
  colors: { sea: SEA },
  defaultRadius: 'md',
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  cursorType: 'pointer',
  components: {
    // Yellow on yellow is too faint (WCAG 1.4.3).
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    // A label needs a role.
    Loader: Loader.extend({ defaultProps: { role: 'status' } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: CLOSE } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: CLOSE } }),
    Badge: Badge.extend({
      defaultProps: { tt: 'none' },
      styles: { root: { flexShrink: 0, minWidth: 'max-content' } },
    }),
  },
});

/** Mantine's own are too faint for small text (WCAG 1.4.3). */
export const readableColors: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: { '--mantine-color-dimmed': colors.gray[7], '--mantine-color-placeholder': colors.gray[7] },
  dark: { '--mantine-color-dimmed': colors.dark[1], '--mantine-color-placeholder': colors.dark[1] },
});
