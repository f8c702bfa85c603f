// Files of a folder become objects of a disk store, and what could lead elsewhere is refused.
import { randomUUID } from 'node:crypto';
import {
  link,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { uploadKey } from '../object-key.ts';
import type { SourceObject, SourceObjects } from '../object-store.ts';

type Store = Awaited<ReturnType<typeof openDiskObjectStore>>;

let root: string;
let films: string;
let store: Store;
let sources: SourceObjects;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'folder-sources-')));
});
afterAll(() => rm(root, { recursive: true, force: true }));

beforeEach(async () => {
  films = join(root, randomUUID());
  const own = join(films, 'store');
  await mkdir(films);
  store = await openDiskObjectStore(own, { sources: { allowed: [`${films}/`], ownFolders: [own] } });
  if (!store.sources) throw new Error('the store has no sources');
  sources = store.sources;
});

const { signal } = new AbortController();
const newKey = () => uploadKey(randomUUID(), randomUUID());
const urlOf = (name: string) => `file://${films}/${name}`;

async function addFilm(name = 'film.mp4', text = 'the bytes of a film'): Promise<SourceObject> {
  await writeFile(join(films, name), text, { mode: 0o644 });
  return sources.find(urlOf(name));
}

const inode = async (path: string) => (await stat(path)).ino;

describe('a file that is copied', () => {
  test('is an object of its own, whose source can change', async () => {
    const source = await addFilm();
    expect(source).toMatchObject({ sizeBytes: 19, contentType: null });
    const to = newKey();
    const copied = await sources.copy(source, { to, isMove: false, signal });
    expect(copied).toMatchObject({ sizeBytes: 19, version: source.version });
    await writeFile(join(films, 'film.mp4'), 'THE BYTES');
    expect((await readFile(store.localFile?.(to) ?? '')).toString()).toBe('the bytes of a film');
  });

  test('and changes meanwhile is no object', async () => {
    const source = await addFilm();
    await writeFile(join(films, 'film.mp4'), 'THE BYTES OF A FILM!');
    const to = newKey();
    await expect(sources.copy(source, { to, isMove: false, signal })).rejects.toMatchObject({
      reason: 'source_changed',
    });
    expect(await store.size(to)).toBeUndefined();
  });
});

describe('a file that is moved', () => {
  test('gets another name, without another copy, and loses its own', async () => {
    const source = await addFilm();
    const path = join(films, 'film.mp4');
    const old = new Date('2020-01-01T00:00:00Z');
    await utimes(path, old, old);
    const to = newKey();
    const found = await sources.find(source.url);
    const { version, sha256 } = await sources.copy(found, { to, isMove: true, signal });
    const stored = store.localFile?.(to) ?? '';
    expect([await inode(stored), sha256]).toEqual([await inode(path), null]);
    const { mode, mtimeMs } = await stat(stored);
    expect(mode & 0o777, 'as all objects').toBe(0o600);
    expect(mtimeMs, 'a check takes old objects for orphans').toBeGreaterThan(Date.now() - 60_000);
    expect(await sources.remove({ url: source.url, version })).toBe(true);
    expect(await sources.remove({ url: source.url, version }), 'again').toBe(false);
    expect((await readFile(stored)).toString()).toBe('the bytes of a film');
  });

  test('is copied if it has another name, by which it could change', async () => {
    const source = await addFilm();
    await link(join(films, 'film.mp4'), join(films, 'other name'));
    const to = newKey();
    const found = await sources.find(source.url);
    await sources.copy(found, { to, isMove: true, signal });
    expect(await inode(store.localFile?.(to) ?? '')).not.toBe(await inode(join(films, 'other name')));
  });

  test('and has other bytes since stays', async () => {
    const source = await addFilm();
    const { version } = await sources.copy(source, { to: newKey(), isMove: true, signal });
    await rm(join(films, 'film.mp4'));
    await writeFile(join(films, 'film.mp4'), 'another film');
    expect(await sources.remove({ url: source.url, version })).toBe(false);
    expect((await readFile(join(films, 'film.mp4'))).toString()).toBe('another film');
  });
});

describe('is refused:', () => {
  const reasonOf = (name: string) => expect(sources.find(urlOf(name))).rejects;

  test('what does not exist, or is no file', async () => {
    await mkdir(join(films, 'folder'));
    await addFilm();
    await reasonOf('none.mp4').toMatchObject({ reason: 'source_missing' });
    await reasonOf('film.mp4/none').toMatchObject({ reason: 'source_missing' });
    await reasonOf('folder').toMatchObject({ reason: 'source_unreadable' });
  });

  test('a symbolic link, and what lies behind one', async () => {
    const elsewhere = join(root, `${randomUUID()}.mp4`);
    await writeFile(elsewhere, 'a secret');
    await addFilm();
    await symlink(elsewhere, join(films, 'link.mp4'));
    await symlink(root, join(films, 'linked'));
    await symlink('film.mp4', join(films, 'inside.mp4'));
    await reasonOf('link.mp4').toMatchObject({ reason: 'source_refused' });
    await reasonOf(`linked/${elsewhere.slice(root.length + 1)}`).toMatchObject({ reason: 'source_refused' });
    await reasonOf('inside.mp4').toMatchObject({ reason: 'source_refused' });
  });

  test('a link that takes the place of the file or its folder', async () => {
    await mkdir(join(films, 'folder'));
    const source = await addFilm('folder/film.mp4');
    const other = await addFilm('other.mp4');
    await rm(join(films, 'folder'), { recursive: true });
    await mkdir(join(films, 'moved'));
    await addFilm('moved/film.mp4');
    await symlink(join(films, 'moved'), join(films, 'folder'));
    await rm(join(films, 'other.mp4'));
    await symlink(join(films, 'moved/film.mp4'), join(films, 'other.mp4'));
    for (const replaced of [source, other])
      await expect(sources.copy(replaced, { to: newKey(), isMove: true, signal })).rejects.toMatchObject({
        reason: 'source_refused',
      });
  });

  test('the original of another asset', async () => {
    const key = newKey();
    await store.put(key, [Buffer.from('of an asset')], 20);
    const path = store.localFile?.(key) ?? '';
    await reasonOf(path.slice(films.length + 1)).toMatchObject({ reason: 'source_refused' });
  });
});

test('a store without places has no sources', async () => {
  expect((await openDiskObjectStore(join(films, 'plain'))).sources).toBeUndefined();
});
