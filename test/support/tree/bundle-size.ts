// Measures what a page loads of a package, minified and compressed.
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/** Bytes. `later`: what the page loads when a function needs it. */
type BundleSize = { readonly atOnce: number; readonly later: number };

/** Without `tus-js-client`, which is loaded by the first upload that needs it. */
export async function measureBundle(input: string): Promise<BundleSize> {
  const bundle = await rolldown({ input, platform: 'browser', external: ['tus-js-client'] });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const atOnce = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of atOnce)
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      atOnce.add(imported);
  const sizes = { atOnce: 0, later: 0 };
  for (const { fileName, code } of chunks)
    sizes[atOnce.has(fileName) ? 'atOnce' : 'later'] += gzipSync(code).length;
  return sizes;
}
