// Marks files with the identity of their process, so that other processes can detect abandoned files.
import { hash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';

/** `<pid namespace>-<pid>-<start time>`. Process ids are reused, but not with the same start time. */
const MARK = /^([0-9a-f]{16})-(\d+)-(\d+)$/;

/** The mark of this process; `unknown` on systems without /proc. */
export async function getProcessMark(): Promise<string> {
  const namespace = await readPidNamespace();
  return namespace === undefined
    ? 'unknown'
    : `${namespace}-${process.pid}-${await readStartTime(process.pid)}`;
}

/** False for processes of other machines and containers, whose state is unknown. */
export async function hasProcessExited(mark: string): Promise<boolean> {
  const [, namespace, pid, start] = MARK.exec(mark) ?? [];
  return (
    namespace !== undefined &&
    namespace === (await readPidNamespace()) &&
    (await readStartTime(Number(pid))) !== start
  );
}

/** Hash of the machine's boot id and the PID namespace; undefined without /proc. */
async function readPidNamespace(): Promise<string | undefined> {
  const [boot, namespace] = await Promise.all([
    undefinedIfMissing(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    undefinedIfMissing(readlink('/proc/self/ns/pid')),
  ]);
  return boot && namespace && hash('sha256', boot + namespace).slice(0, 16);
}

/** Field 22 of /proc/<pid>/stat: ticks from boot to process start; undefined when the process does not exist. */
async function readStartTime(pid: number): Promise<string | undefined> {
  const text = await undefinedIfMissing(readFile(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

async function undefinedIfMissing(content: Promise<string>): Promise<string | undefined> {
  try {
    return await content;
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'EACCES', 'ESRCH'].includes(String(error.code))
    )
      return undefined;
    throw error;
  }
}
