// Forms with a file, as servers read them.
import { expect, test } from 'vitest';
import { startApiServer } from '../api-server.fixture.ts';
import { encodeForm } from './form-body.ts';
import { createByteSender } from './send-bytes.ts';

test('a form shows its progress and length in Node, and is read by the rules of forms', async () => {
  const server = await startApiServer();
  server.handle((_request, response) => response.end());
  const file = new File([new Uint8Array(600_000)], 'a.mp4', { type: 'video/mp4' });
  const body = encodeForm({ 'a"b': 'ü\r\n1' }, file, 'Fi"lm\r\nü.mp4');
  const headers = { 'content-type': body.type };
  const sent: number[] = [];
  const onSent = (bytes: number) => sent.push(bytes);
  await createByteSender(undefined)({ method: 'POST', url: server.url, headers, body, onSent });
  const [received] = server.requests;
  expect(received?.headers).toMatchObject({ 'content-length': `${body.size}` });
  expect(sent.slice(0, 2)).toEqual([262_144, 524_288]);
  const form = await new Response(received?.body, { headers }).formData();
  expect(form.get('a"b')).toBe('ü\r\n1');
  const uploaded = form.get('file') as File;
  expect([uploaded.name, uploaded.type, uploaded.size]).toEqual(['Fi"lm\r\nü.mp4', 'video/mp4', 600_000]);
  await server.close();
});
