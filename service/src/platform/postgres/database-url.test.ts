// Tests which URLs DATABASE_URL accepts, and that no error shows a part of the password.
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { parseDatabaseUrl } from './database-url.ts';

test('one server stays as it is', () => {
  expect(parseDatabaseUrl('postgres://ann:pw@db.internal/mediary?sslmode=verify-full')).toEqual({
    servers: ['postgres://ann:pw@db.internal/mediary?sslmode=verify-full'],
    isPrimaryOnly: false,
  });
});

test('each of several servers gets the user, the database and the parameters', () => {
  expect(parseDatabaseUrl('postgresql://ann:p%40w@db1:5433,[::1],db3:5432/mediary?sslmode=require')).toEqual({
    servers: ['db1:5433', '[::1]', 'db3:5432'].map(
      (server) => `postgres://ann:p%40w@${server}/mediary?sslmode=require`,
    ),
    isPrimaryOnly: true,
  });
});

test.each([
  ['a,b/m', true],
  ['a,b/m?target_session_attrs=any', false],
  ['a/m?target_session_attrs=read-write', true],
  ['a/m?target_session_attrs=primary', true],
  ['a/m', false],
])('%s: only a server that takes writes: %s', (rest, isPrimaryOnly) => {
  expect(parseDatabaseUrl(`postgres://${rest}`)).toMatchObject({ isPrimaryOnly });
});

test('folders of sockets are parameters, with one port or one for each', () => {
  expect(parseDatabaseUrl('postgres://ann@/mediary?host=/run/a,/run/b&port=5432,5433').servers).toEqual([
    'postgres://ann@/mediary?host=%2Frun%2Fa&port=5432',
    'postgres://ann@/mediary?host=%2Frun%2Fb&port=5433',
  ]);
  expect(parseDatabaseUrl('postgres:///mediary?host=/a,/b').servers[1]).toContain('host=%2Fb&port=5432');
});

test.each([
  ['mysql://ann:secret@db/mediary', 'not a postgres URL'],
  ['host=db password=secret', 'not a postgres URL'],
  ['postgres://ann:se/cret@db/mediary', 'the port of its server 1'],
  ['postgres://ann:se#cret@db/mediary', 'not a postgres URL'],
  ['postgres://ann:se%cret@db/mediary', 'write %25'],
  ['postgres://ann:secret@db:secret/mediary', 'the port of its server 1 must be a number'],
  ['postgres://ann:secret@db,db:70000/mediary', 'the port of its server 2 must be a number'],
  ['postgres://ann:secret@fe80::1/mediary', 'write an IPv6 address in brackets'],
  ['postgres://ann:secret@[fe80/mediary', 'its server 1 must be a host name'],
  ['postgres://ann:secret@db/mediary?sslmode=secret', 'its sslmode must be one of disable, '],
  [
    'postgres://ann:secret@a,b/mediary?target_session_attrs=standby',
    'must be one of any, read-write, primary',
  ],
  ['postgres://ann:secret@a/mediary?host=b', 'also a parameter "host"'],
  ['postgres://ann:secret@/mediary?host=/a,/b&port=1,2,3', 'one for each of the 2 hosts'],
])('%s is refused: %s', (url, reason) => {
  const start = () => readConfig({ DATABASE_URL: url, MEDIARY_ROLE: 'worker' }, (path) => path);
  expect(start).toThrow(reason);
  expect(start).toThrow('DATABASE_URL must be a URL such as postgres://user:password@db1:5432,db2:5432/');
  expect(start).not.toThrow(/se.?cret/);
});
