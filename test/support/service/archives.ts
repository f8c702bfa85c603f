// Archives of owners: exports, changes and sends them, as an operator and as an attacker would.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { extract, type Headers, pack } from 'tar-stream';
import { type Answer, asOperator, call } from '../service.ts';

type Api = { readonly url: string };
export type ArchiveEntry = {
  readonly name: string;
  readonly bytes: Buffer;
  readonly type?: Headers['type'];
  readonly linkname?: string;
};

export type ImportJson = {
  readonly owner_user_id: string;
  readonly is_complete: boolean;
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly counts: Readonly<Record<'imported_count' | 'already_there_count' | 'refused_count', number>>;
  readonly items: readonly {
    readonly asset_id: string;
    readonly result: string;
    readonly code: string | null;
    readonly message: string | null;
  }[];
};

const pathOf = (owner: string): string => `/admin/owners/${encodeURIComponent(owner)}`;

export async function exportOf(service: Api, owner: string): Promise<Buffer> {
  const response = await fetch(`${service.url}${pathOf(owner)}/export`, { headers: asOperator });
  if (response.status !== 200) throw new Error(`export: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

export const importTo = (service: Api, owner: string, archive: Uint8Array): Promise<Answer<ImportJson>> =>
  call<ImportJson>(service, `POST ${pathOf(owner)}/import`, {
    headers: { ...asOperator, 'content-type': 'application/x-tar' },
    body: archive,
  });

export async function entriesOf(archive: Uint8Array): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  const source = extract();
  source.end(Buffer.from(archive));
  for await (const entry of source) entries.push({ name: entry.header.name, bytes: await buffer(entry) });
  return entries;
}

export async function archiveOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const packed = pack();
  for (const { name, bytes, type = 'file', linkname } of entries)
    packed.entry({ name, type, ...(linkname !== undefined && { linkname }) }, bytes);
  packed.finalize();
  return buffer(packed);
}

/** With lists of checksums that match the changed files, as a careful attacker would write them. */
export function sealed(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const list = createHash('sha256');
  let sums = '';
  let files = 0;
  return entries.map((entry) => {
    const isManifest = entry.name === 'manifest.json';
    const isSums = entry.name.endsWith('/SHA256SUMS');
    const bytes = isSums
      ? Buffer.from(sums)
      : isManifest
        ? withMembers(entry.bytes, { files, files_sha256: list.digest('hex') })
        : entry.bytes;
    if (isManifest) return { ...entry, bytes };
    const line = `${sha256Of(bytes)}  ${entry.name}\n`;
    list.update(line);
    files += 1;
    sums = isSums || !entry.name.startsWith('assets/') ? '' : sums + line;
    return { ...entry, bytes };
  });
}

/** The JSON file with other members. */
export const withMembers = (bytes: Buffer, members: object): Buffer =>
  Buffer.from(JSON.stringify({ ...(JSON.parse(bytes.toString()) as object), ...members }));

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
