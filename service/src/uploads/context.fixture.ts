// Uploads in tests: one asset, its bytes and its jobs in memory; the database answers by the name of a
// statement.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Asset } from '../assets/asset.ts';
import { toSecret } from '../auth/secret.ts';
import { NOW } from '../lifecycle/asset.fixture.ts';
import type { AssetWrite } from '../lifecycle/decisions/change.ts';
import { openMemoryLifecycle } from '../lifecycle/memory-store.fixture.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { Intake, UploadsContext } from './context.ts';
import { createRunningChecksums } from './original/running-checksum.ts';

/** The row of the first run of an import. */
export const CLAIMED_IMPORT = {
  url: 'https://files.example.com/',
  headers: {},
  deletes_source: false,
  transfer: null,
  partial: null,
  held_ms: 0,
  previous_upload_id: null,
  runs: 1,
};

/** The start of an MP4 file. */
export const MP4 = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2 and the bytes of the video');

const SETTINGS: UploadsContext['settings'] = {
  maxUploadBytes: 1000,
  uploadTtlSeconds: 600,
  uploadMaxAgeSeconds: 86_400,
  multipartUploadBytes: 1000,
  resumableUploadBytes: 1000,
  importLimits: { importTimeoutSeconds: 60, importConcurrency: 1 },
  outboundAllowPrivate: [],
  urlSecrets: [toSecret('a secret of the tests')],
  publicBaseUrl: () => 'https://media.test',
  newAssets: {
    maxUploadBytes: 1000,
    uploadTtlSeconds: 600,
    findMediaType: () => undefined,
    mimeTypes: [],
    defaultProvider: 'onprem',
    uploadProviders: ['onprem', 'cdnhost'],
    hostedProviders: ['cdnhost'],
    knowsCountries: false,
    uploadRules: new Map(),
  },
};

/** The name of a statement → its row; a statement without one finds nothing. */
type Rows = Readonly<Record<string, object | undefined | (() => object | undefined)>>;

type Given = Parameters<typeof contextOf<UploadsContext>>[0];

type SentJob = Parameters<UploadsContext['jobs']['sendFor']>[2];

type UploadsWorld = {
  readonly ctx: UploadsContext;
  /** The asset as it is now. */
  readonly asset: () => Asset;
  readonly decisions: readonly AssetWrite[];
  /** Objects in the store, as text. */
  readonly stored: Map<string, string>;
  readonly sent: readonly SentJob[];
  /** The names of the statements, in their order. */
  readonly statements: readonly string[];
};

export function createUploadsWorld(first: Asset, rows: Rows = {}, given: Given = {}): UploadsWorld {
  const memory = openMemoryLifecycle(first, NOW);
  const stored = new Map<string, string>();
  const sent: SentJob[] = [];
  const statements: string[] = [];
  const ctx = contextOf<UploadsContext>({
    settings: SETTINGS,
    db: databaseOf({
      all: (_text, _values, name) => {
        statements.push(name);
        const row = rows[name];
        const found = typeof row === 'function' ? row() : row;
        return found ? [found] : [];
      },
    }),
    store: openStore(stored),
    jobs: { sendFor: async (_tx, _owner, job) => void sent.push(job) },
    log: { warn: () => {} },
    clocks: { now: () => NOW, databaseNow: async () => NOW },
    lifecycle: { ...memory.lifecycle, findDuplicate: async () => null },
    usage: { underQuota: (_owner, work) => work(), findByteQuota: async () => undefined },
    providers: {
      registry: new Map(),
      isHosted: ({ provider }) => provider === 'cdnhost',
      startJob: () => undefined,
    },
    admission: { limitOwner: async () => {}, requireDatabaseSpace: async () => {} },
    worker: {
      probe: {
        probe: async () => ({
          facts: { width: 16, height: 9, durationMs: 4000, hasVideo: true, hasAudio: false, traits: {} },
        }),
        probeAudio: async () => ({
          facts: { width: null, height: null, durationMs: 4000, hasVideo: false, hasAudio: true, traits: {} },
        }),
      },
    },
    intake: createIntake(),
    ...given,
  });
  return { ctx, asset: memory.asset, decisions: memory.decisions, stored, sent, statements };
}

export const createIntake = (given: Partial<Intake> = {}): Intake =>
  contextOf<Intake>({
    claimPut: async ({ upload }) => ({ upload, has_replaced: false, has_byte_limit: false }),
    leases: new Map(),
    checksums: createRunningChecksums(),
    ...given,
  });

const openStore = (stored: Map<string, string>): Partial<UploadsContext['store']> => ({
  put: async (key, bytes) => {
    const whole = await buffer(Readable.from(bytes));
    stored.set(key, whole.toString());
    return { sizeBytes: whole.length, sha256: 'a'.repeat(64) };
  },
  remove: async (key) => void stored.delete(key),
  stream: (key, range) =>
    Readable.from([Buffer.from(stored.get(key) ?? '').subarray(range?.start, range && range.end + 1)]),
});
