// A service that may adopt the files of a folder, and the steps of an operator who adopts them.
import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectSuccess } from '../http/envelope.ts';
import type { AssetJson } from '../media.ts';
import { type Answer, asOperator, call, startTestService, type TestService } from '../service.ts';

export type Adoption = { readonly asset: AssetJson | null; readonly is_existing: boolean };

export type Adoptions = {
  readonly service: TestService;
  /** The folder of the operator. */
  readonly films: string;
  readonly urlOf: (name: string) => string;
  /** Returns the URL of the file. */
  readonly addFile: (name: string, bytes: Buffer | string) => Promise<string>;
  readonly exists: (name: string) => Promise<boolean>;
  readonly request: (json: object, headers?: Record<string, string>) => Promise<Answer<Adoption>>;
  readonly adopt: (json: object) => Promise<AssetJson>;
  stop(): Promise<void>;
};

export async function startAdoptions(): Promise<Adoptions> {
  const films = await realpath(await mkdtemp(join(tmpdir(), 'films-')));
  const service = await startTestService({ ADOPT_SOURCES: `file://${films}` });
  const urlOf = (name: string) => `file://${films}/${encodeURIComponent(name)}`;
  const request: Adoptions['request'] = (json, headers = asOperator) =>
    call<Adoption>(service, 'POST /admin/adoptions', { headers, json: { owner_user_id: 'ann', ...json } });
  return {
    service,
    films,
    urlOf,
    addFile: async (name, bytes) => {
      await writeFile(join(films, name), bytes);
      return urlOf(name);
    },
    exists: (name) =>
      stat(join(films, name)).then(
        () => true,
        () => false,
      ),
    request,
    adopt: async (json) => {
      const { asset, is_existing: isExisting } = expectSuccess<Adoption>(await request(json));
      expect(isExisting).toBe(false);
      if (!asset) throw new Error('no asset');
      return asset;
    },
    stop: async () => {
      await service.stop();
      await rm(films, { recursive: true, force: true });
    },
  };
}
