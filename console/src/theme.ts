// Colours and defaults of the console.
import { Badge, createTheme, type MantineColorsTuple } from '@mantine/core';

/** The page allows only styles with this nonce. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

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

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: { light: 7, dark: 5 },
  colors: { sea: SEA },
  defaultRadius: 'md',
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  cursorType: 'pointer',
  components: {
    Badge: Badge.extend({ defaultProps: { tt: 'none' }, styles: { root: { flexShrink: 0 } } }),
  },
});
