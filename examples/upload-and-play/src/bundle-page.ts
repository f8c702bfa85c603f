// Bundles the script of the page with its packages, as the build of a web application would.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

export type Page = { readonly html: string; readonly scripts: ReadonlyMap<string, string> };

export async function bundlePage(mediaryUrl: string): Promise<Page> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'page.ts'),
    platform: 'browser',
    transform: { define: { MEDIARY_URL: JSON.stringify(mediaryUrl) } },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const scripts = output.flatMap((file) =>
    file.type === 'chunk' ? [[`/${file.fileName}`, file.code] as const] : [],
  );
  return {
    html: await readFile(join(import.meta.dirname, 'page.html'), 'utf8'),
    scripts: new Map(scripts),
  };
}
