// Provides files to the sandboxed ffmpeg: inputs as open descriptors, outputs in its working folder.
import { chown, type FileHandle, open, readdir } from 'node:fs/promises';
import type { Sandbox, User } from '../../../platform/process/sandbox.ts';

export type FfmpegFiles = {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Descriptors of the service; ffmpeg sees them from FIRST_INPUT on, in this order. */
  readonly inputs: readonly number[];
  /** Throws when ffmpeg created anything except plain files. */
  check(): Promise<void>;
  close(): Promise<void>;
};

type FfmpegFilesOptions = {
  readonly sandbox: Sandbox;
  readonly args: readonly string[];
  /** The folder of all outputs. */
  readonly folder: string | undefined;
};

/** After standard input, output and error. */
const FIRST_INPUT = 3;
const FILE = 'file:';
const OTHERS_READ = 0o004;
const GROUP_READ = 0o040;

/** Without a sandbox that hides files, paths are used unchanged. */
export async function openFfmpegFiles({ sandbox, args, folder }: FfmpegFilesOptions): Promise<FfmpegFiles> {
  const cwd = folder ?? '/';
  const check = () => (folder === undefined ? Promise.resolve() : assertPlainFiles(folder));
  if (!sandbox.protections.hidden_data) return { args, cwd, inputs: [], check, close: async () => {} };
  if (folder !== undefined && sandbox.user) await chown(folder, sandbox.user.uid, sandbox.user.gid);
  const handles: FileHandle[] = [];
  const close = async () => {
    await Promise.all(handles.map((handle) => handle.close()));
  };
  try {
    for (const path of inputPaths(args)) handles.push(await openInput(path, sandbox.user));
  } catch (error) {
    await close();
    throw error;
  }
  return { args: insideArguments(args, folder), cwd, inputs: handles.map(({ fd }) => fd), check, close };
}

const isInput = (args: readonly string[], index: number): boolean =>
  args[index - 1] === '-i' && args[index]?.startsWith(FILE) === true;

const inputPaths = (args: readonly string[]): string[] =>
  args.filter((_, index) => isInput(args, index)).map((arg) => arg.slice(FILE.length));

/** Opening /proc/self/fd checks the mode of the file, but not those of its parent folders. */
async function openInput(path: string, user: User | undefined): Promise<FileHandle> {
  const handle = await open(path);
  try {
    if (user) await makeReadable(handle, user);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function makeReadable(handle: FileHandle, { gid }: User): Promise<void> {
  const { mode, uid, gid: group } = await handle.stat();
  if (mode & OTHERS_READ || (group === gid && mode & GROUP_READ)) return;
  await handle.chown(uid, gid);
  await handle.chmod((mode & 0o777) | GROUP_READ);
}

/** Replaces paths by those inside the sandbox. */
function insideArguments(args: readonly string[], folder: string | undefined): string[] {
  let descriptor = FIRST_INPUT;
  return args.map((arg, index) =>
    isInput(args, index) ? `${FILE}/proc/self/fd/${descriptor++}` : relativeTo(folder, arg),
  );
}

function relativeTo(folder: string | undefined, arg: string): string {
  if (folder === undefined) return arg;
  const [scheme, path] = arg.startsWith(FILE) ? [FILE, arg.slice(FILE.length)] : ['', arg];
  return path.startsWith(`${folder}/`) ? `${scheme}${path.slice(folder.length + 1)}` : arg;
}

/** A symbolic link would make the service read and publish another file. */
async function assertPlainFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (!entry.isFile() && !entry.isDirectory())
      throw new Error(`ffmpeg left ${JSON.stringify(entry.name)}, which is not a plain file`);
}
