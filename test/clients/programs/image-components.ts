// Prints what the image components of three frameworks ask for: image-components.ts <URL of an image>
import { transformBaseImageProps } from '@unpic/core/base';
import { getImageProps } from 'next/image.js';
import { imageWidths, nextImageLoader, nuxtImageProvider, unpicTransformer } from '@mediary/client/images';

const picture = { src: process.argv[2] ?? '', alt: '', width: 640, height: 360 };
const next = getImageProps({ ...picture, sizes: '100vw', loader: nextImageLoader });
const unpic = transformBaseImageProps({
  ...picture,
  layout: 'constrained' as const,
  transformer: unpicTransformer,
  breakpoints: [...imageWidths],
});
// A Nuxt application makes it from its configuration.
const { createImage } = await import(
  new URL('../node_modules/@nuxt/image/dist/runtime/image.js', import.meta.url).href
);
const nuxt = createImage({
  provider: 'mediary',
  providers: { mediary: { setup: nuxtImageProvider, defaults: {} } },
  presets: {},
  alias: {},
  domains: [],
  densities: [1, 2],
  screens: { sm: 640, md: 768, lg: 1024, xl: 1280, xxl: 1536 },
});
const sizes = 'sm:100vw md:50vw xxl:1200px';
const nuxtSizes = nuxt.getSizes(picture.src, { sizes, modifiers: { width: 640, format: 'webp' } });
console.log(
  JSON.stringify({
    'next/image': next.props.srcSet,
    Unpic: unpic.srcset,
    'Nuxt Image': nuxtSizes.srcset,
  }),
);
