// Icons of Tabler Icons 3 (https://tabler.io/icons, MIT licence), as paths of a 24 × 24 grid.

const PATHS = {
  home: 'M5 12H3l9-9 9 9h-2M5 12v7a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-7M9 21v-6a2 2 0 0 1 2-2h2a2 2 0 0 1 2 2v6',
  photo:
    'M15 8h.01M3 6a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v12a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3zM3 16l5-5c.93-.89 2.07-.89 3 0l5 5M14 14l1-1c.93-.89 2.07-.89 3 0l3 3',
  film: 'M4 6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zM8 4v16M16 4v16M4 8h4M4 16h4M4 12h16M16 8h4M16 16h4',
  sound: 'M3 17a3 3 0 1 0 6 0a3 3 0 0 0-6 0M13 17a3 3 0 1 0 6 0a3 3 0 0 0-6 0M9 17V4h10v13M9 8h10',
  collection: 'M12 6l-8 4 8 4 8-4zM4 14l8 4 8-4',
  up: 'M12 5v14M18 11l-6-6M6 11l6-6',
  down: 'M12 5v14M18 13l-6 6M6 13l6 6',
  webhook: 'M4.9 13.6A4 4 0 1 0 10 18h5M7 14l4-8M11 6a4 4 0 1 1 6.6 3.7M15 14l-3.5-6M15 14a4 4 0 1 1-1 5.4',
  work: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  health: 'M3 12h4l3 8 4-16 3 8h4',
  owners:
    'M5 7a4 4 0 1 0 8 0 4 4 0 1 0-8 0M3 21v-2a4 4 0 0 1 4-4h4a4 4 0 0 1 4 4v2M16 3.13a4 4 0 0 1 0 7.75M21 21v-2a4 4 0 0 0-3-3.85',
  key: 'M16.56 3.84l3.6 3.6a2.88 2.88 0 0 1 0 4.07l-2.65 2.65a2.88 2.88 0 0 1-4.07 0l-.3-.3-6.56 6.56a2 2 0 0 1-1.24.58L5.17 21H4a1 1 0 0 1-.99-.88L3 20v-1.17a2 2 0 0 1 .47-1.28l.12-.13L4 17h2v-2h2v-2l2.14-2.14-.3-.3a2.88 2.88 0 0 1 0-4.07l2.65-2.65a2.88 2.88 0 0 1 4.07 0zM15 9h.01',
  book: 'M3 19a9 9 0 0 1 9 0 9 9 0 0 1 9 0M3 6a9 9 0 0 1 9 0 9 9 0 0 1 9 0M3 6v13M12 6v13M21 6v13',
  signOut: 'M14 8V6a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h7a2 2 0 0 0 2-2v-2M9 12h12l-3-3M18 15l3-3',
  sun: 'M8 12a4 4 0 1 0 8 0 4 4 0 1 0-8 0M3 12h1M12 3v1M20 12h1M12 20v1M5.6 5.6l.7.7M18.4 5.6l-.7.7M17.7 17.7l.7.7M6.3 17.7l-.7.7',
  moon: 'M12 3h.39a7.5 7.5 0 0 0 7.92 12.45A9 9 0 1 1 12 2.99z',
  search: 'M3 10a7 7 0 1 0 14 0 7 7 0 1 0-14 0M21 21l-6-6',
  tag: 'M6.5 7.5a1 1 0 1 0 2 0 1 1 0 1 0-2 0M3 6v5.17a2 2 0 0 0 .59 1.42l7.7 7.7a2.41 2.41 0 0 0 3.42 0l5.58-5.58a2.41 2.41 0 0 0 0-3.42l-7.7-7.7A2 2 0 0 0 11.17 3H6a3 3 0 0 0-3 3z',
  upload: 'M4 17v2a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-2M7 9l5-5 5 5M12 4v12',
  pause: 'M6 5h4v14H6zM14 5h4v14h-4z',
  play: 'M7 4v16l13-8z',
  close: 'M18 6L6 18M6 6l12 12',
  trash:
    'M4 7h16M10 11v6M14 11v6M5 7l1 12a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2l1-12M9 7V4a1 1 0 0 1 1-1h4a1 1 0 0 1 1 1v3',
  copy: 'M7 9.67A2.67 2.67 0 0 1 9.67 7h8.66A2.67 2.67 0 0 1 21 9.67v8.66A2.67 2.67 0 0 1 18.33 21H9.67A2.67 2.67 0 0 1 7 18.33zM4.01 16.74A2 2 0 0 1 3 15V5c0-1.1.9-2 2-2h10c.75 0 1.16.39 1.5 1',
  alert:
    'M12 9v4M12 16h.01M10.36 3.59L2.26 17.13A1.91 1.91 0 0 0 3.9 20h16.2a1.91 1.91 0 0 0 1.64-2.87L13.64 3.59a1.91 1.91 0 0 0-3.28 0z',
} as const;

export type IconName = keyof typeof PATHS;

type IconProps = { readonly name: IconName; readonly size?: number };

/** Decoration beside a text, or in a button that has a label. */
export const Icon = ({ name, size = 20 }: IconProps) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
);
