// The library that `npm run seed -- --demo` creates: forty images, videos and sounds of two owners.

/** What a picture shows, or a sound is; `broken…` are files that the service refuses. */
export type DemoRecipe =
  | 'hills'
  | 'night'
  | 'fractal'
  | 'colours'
  | 'life'
  | 'counter'
  | 'portrait'
  | 'podcast'
  | 'voice'
  | 'broken picture'
  | 'broken video'
  | 'sound alone';

export type DemoAsset = {
  readonly kind: 'image' | 'video' | 'audio';
  readonly filename: string;
  readonly title: string;
  readonly owner: string;
  readonly recipe: DemoRecipe;
  readonly tags: readonly string[];
  readonly visibility: 'private' | 'public';
  readonly isInTrash: boolean;
  /** Its bytes never arrive. */
  readonly isPending: boolean;
  readonly captions: readonly string[];
};

/** Found by this tag, so that a second run adds nothing. */
export const DEMO_TAG = 'demo';
const OWNERS = ['ann', 'ben'] as const;

const IMAGES = [
  'Sunrise over the harbour',
  'Harbour at dusk',
  'Dunes after the storm',
  'Lake in the morning fog',
  'Alpine meadow in June',
  'Autumn on the pass',
  'First snow',
  'Vineyard in October',
  'Lavender field',
  'The valley from above',
  'Cliffs at low tide',
  'Road to the lighthouse',
  'Evening in the foothills',
  'Polar night over the bay',
  'Milky Way, 30 s exposure',
  'City lights from the ridge',
  'Full moon, second try',
  'Cover, issue 42',
  'Cover, issue 43 (draft)',
  'Festival poster, summer',
  'فجر جديد فوق الميناء 🌅',
  '夏の終わりの丘',
  'Wallpaper for the lobby screen',
] as const;

const VIDEOS = [
  'Countdown to launch',
  'Launch day, the first ten seconds',
  'Fractal loop for the lobby screen',
  'Colour study, slow',
  'Opening titles, version 3',
  'Opening titles, version 4',
  'Story: behind the scenes',
  'Story: the morning after',
  'Interview with the gardener',
  'How to prune a vine',
  'Trailer, summer festival',
] as const;

const VIDEO_RECIPES: readonly DemoRecipe[] = ['counter', 'colours', 'fractal', 'colours', 'life'];

const toFilename = (title: string, index: number, extension: string): string => {
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `${name.replaceAll(/^-|-$/g, '') || `untitled-${index}`}.${extension}`;
};

const plain = { visibility: 'private', isInTrash: false, isPending: false, captions: [] } as const;

const images: DemoAsset[] = IMAGES.map((title, index) => ({
  ...plain,
  kind: 'image',
  filename: toFilename(title, index, index % 5 === 4 ? 'png' : 'jpg'),
  title,
  owner: OWNERS[index % 3 === 2 ? 1 : 0],
  recipe: /night|Milky|lights|moon/i.test(title)
    ? 'night'
    : /Cover|Wallpaper/.test(title)
      ? 'fractal'
      : 'hills',
  tags: [
    DEMO_TAG,
    /Cover|poster/i.test(title) ? 'print' : 'landscape',
    ...(index % 4 === 0 ? ['favourite'] : []),
  ],
  visibility: index % 3 === 0 ? 'public' : 'private',
  isInTrash: /draft|second try/.test(title),
}));

const videos: DemoAsset[] = VIDEOS.map((title, index) => ({
  ...plain,
  kind: 'video',
  filename: toFilename(title, index, 'mp4'),
  title,
  owner: OWNERS[index % 3 === 1 ? 1 : 0],
  recipe: title.startsWith('Story') ? 'portrait' : (VIDEO_RECIPES[index % VIDEO_RECIPES.length] ?? 'counter'),
  tags: [DEMO_TAG, title.startsWith('Story') ? 'story' : 'film'],
  visibility: index % 2 === 0 ? 'public' : 'private',
  isInTrash: title.endsWith('version 3'),
  captions: /Interview|prune/.test(title) ? ['en', 'de'] : title.startsWith('Launch') ? ['en'] : [],
}));

const sounds: DemoAsset[] = (['podcast', 'voice'] as const).map((recipe) => ({
  ...plain,
  kind: 'audio',
  filename: recipe === 'podcast' ? 'podcast-episode-12.m4a' : 'voice-message.ogg',
  title: recipe === 'podcast' ? 'Podcast, episode 12' : 'Voice message from the harbour',
  owner: 'ann',
  recipe,
  tags: [DEMO_TAG, 'sound'],
}));

const broken = (kind: DemoAsset['kind'], title: string, recipe: DemoRecipe): DemoAsset => ({
  ...plain,
  kind,
  filename: toFilename(title, 0, kind === 'image' ? 'jpg' : 'mp4'),
  title,
  owner: 'ben',
  recipe,
  tags: [DEMO_TAG, 'imported'],
});

export const DEMO_ASSETS: readonly DemoAsset[] = [
  ...images,
  ...videos,
  ...sounds,
  broken('image', 'Scan that was cut off', 'broken picture'),
  broken('video', 'Recording that stopped', 'broken video'),
  broken('video', 'Podcast without a picture', 'sound alone'),
  { ...broken('video', 'Drone flight, upload not finished', 'counter'), isPending: true },
];
