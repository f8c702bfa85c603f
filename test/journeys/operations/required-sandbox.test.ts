// SANDBOX=required: a process starts with every part of the sandbox that its user can have, or says what is
// missing.
import { execFile } from 'node:child_process';
import { chown, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { findProgram } from '../../../deploy/cluster/programs.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { asOperator, call } from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';

const run = promisify(execFile);
const START = [process.execPath, join(import.meta.dirname, '../../../service/start.js')];
const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
const isRoot = process.getuid?.() === 0 && findProgram('setpriv') !== undefined;

/** Another user cannot read every checkout, and not every kernel gives it namespaces. */
const canNobody = (...command: string[]) =>
  run('setpriv', [...AS_NOBODY.slice(1), ...command]).then(
    () => true,
    () => false,
  );

let dataDir: string;
let service: ServiceProcess | undefined;
afterEach(async () => {
  await service?.end('SIGTERM');
  service = undefined;
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

describe.skipIf(!isRoot)('with SANDBOX=required', () => {
  test('another user than root starts, without other_user alone', async ({ skip }) => {
    dataDir = await newDataDir();
    await chown(dataDir, NOBODY, NOBODY);
    skip(!(await canNobody('test', '-r', START[1] ?? '')), 'other users cannot read this checkout');
    skip(!(await canNobody('unshare', '--user', '--map-root-user', 'true')), 'no user namespaces');
    service = await startProcess({ DATA_DIR: dataDir, HOME: dataDir, SANDBOX: 'required' }, [
      ...AS_NOBODY,
      ...START,
    ]);
    const { origin } = new URL(service.url);
    const ready = expectSuccess(await call(service, `GET ${origin}/readyz`, { headers: asOperator }));
    const { sandbox } = ready as { sandbox: Record<string, boolean> };
    expect(Object.keys(sandbox).filter((part) => !sandbox[part])).toEqual(['other_user']);
  });

  test('a process that may not create namespaces names each missing part and what gives it', async () => {
    dataDir = await newDataDir();
    const withoutRight = ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin', '--'];
    const [program = '', ...args] = [...withoutRight, ...START];
    const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, SANDBOX: 'required', LOG_LEVEL: 'error' };
    const ended = await run(program, args, { env }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 1, stdout: expect.any(String) });
    expect(JSON.parse((ended as { stdout: string }).stdout)).toMatchObject({
      err: {
        message:
          'SANDBOX is "required", but parts of the sandbox are missing. They need:\n' +
          '  - no_network, own_processes, read_only_files: ' +
          'unshare and mount (util-linux), and CAP_SYS_ADMIN: in a container --cap-add SYS_ADMIN and, ' +
          'with AppArmor, --security-opt apparmor=unconfined\n' +
          'SANDBOX=available starts without them.',
      },
    });
  });
});
