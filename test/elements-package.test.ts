// The package @mediary/elements as it is published: its modules, its types, React on a server, and its size.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const run = async (file: string, ...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(file, args, { cwd: project }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${args.join(' ')} failed:\n${error.stdout}${error.stderr}`);
    },
  );
  return stdout;
};

/** Imported where there is no browser, as by a server that renders pages. */
const ON_A_SERVER = `
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { MediaryPlayer } from '@mediary/elements/react';
if (typeof window !== 'undefined' || typeof customElements !== 'undefined') throw new Error('a browser');
const props = { asset: '1', baseUrl: 'https://media.example.com', label: '"><b>', muted: true, loop: false };
console.log(renderToString(createElement(MediaryPlayer, { ...props, tokenProvider: async () => 'token' })));
`;

const TYPED = `
import type { MediaryPlayer as PlayerElement } from '@mediary/elements/player';
import type { UploadEvent } from '@mediary/elements/uploader';
import { MediaryPlayer, MediaryUploader } from '@mediary/elements/react';
export const uploader = MediaryUploader({
  endpoint: '/uploads',
  maxFiles: 3,
  onUploadReady: ({ detail }: UploadEvent) => detail.assetId satisfies string | undefined,
});
export const player = MediaryPlayer({
  asset: '1',
  tokenProvider: async () => 'token',
  onPlayerError: ({ detail }) => detail.code satisfies string,
});
// @ts-expect-error: a value that does not exist
MediaryPlayer({ asset: '1', preload: 'some' });
export const play = (element: PlayerElement): Promise<void> => element.play();
const shown = document.querySelector('mediary-player');
shown?.media?.currentTime satisfies number | undefined;
`;

let project: string;
let installed: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mediary-elements-'));
  installed = join(project, 'node_modules/@mediary/elements');
  await run(process.execPath, join(ROOT, 'packages/elements/build.ts'), installed);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  await run(
    process.execPath,
    join(ROOT, 'packages/client/build.ts'),
    join(project, 'node_modules/@mediary/client'),
  );
  const others = Object.keys(dependencies).filter((name) => name !== '@mediary/client');
  const added = ['react', 'react-dom', '@types/react', 'csstype', 'mediabunny', 'tus-js-client'];
  for (const name of [...others, ...added]) {
    await mkdir(dirname(join(project, 'node_modules', name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
});
afterAll(() => rm(project, { recursive: true, force: true }));

test('its React component renders on a server, with texts escaped', async () => {
  await writeFile(join(project, 'server.js'), ON_A_SERVER);
  expect((await run(process.execPath, 'server.js')).trim()).toBe(
    '<mediary-player asset="1" base-url="https://media.example.com" label="&quot;&gt;&lt;b&gt;" muted="">' +
      '</mediary-player>',
  );
  expect(await readFile(join(installed, 'react.js'), 'utf8')).toMatch(/^'use client'/);
});

test('its types hold in a strict project, and for the React code of its guide', async () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'es2022',
    module: 'preserve',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    jsx: 'react-jsx',
  };
  const guide = await readFile(join(ROOT, 'docs/guides/elements.md'), 'utf8');
  const blocks = Array.from(guide.matchAll(/```tsx\n([\s\S]*?)```/g), ([, code]) => code);
  expect(blocks).toHaveLength(2);
  await writeFile(join(project, 'guide.tsx'), blocks.join('\n'));
  await writeFile(join(project, 'typed.ts'), TYPED);
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['typed.ts', 'guide.tsx'] }),
  );
  await run(process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json');
});

describe('for browsers', () => {
  const folder = (): string => join(installed, 'browser');

  test('the player has at most 75 kB compressed, and hls.js is a chunk of its own', async () => {
    const player = await readFile(join(folder(), 'player.js'));
    expect(gzipSync(player).length).toBeLessThan(75_000);
    expect(player.includes('#EXTM3U')).toBe(false);
    const chunks = (await readdir(folder())).filter((name) => name.startsWith('hls-video-element-'));
    expect(chunks).toHaveLength(1);
    expect(await readFile(join(folder(), chunks[0] ?? ''), 'utf8')).toContain('#EXTM3U');
  });

  test('no script names another host that it could load from', async () => {
    for (const name of await readdir(folder())) {
      const text = await readFile(join(folder(), name), 'utf8');
      expect(text).not.toMatch(/gstatic|unpkg|jsdelivr|googleapis/);
      expect(text).not.toMatch(/import\s*\(\s*[`'"]https?:/);
    }
  });
});
