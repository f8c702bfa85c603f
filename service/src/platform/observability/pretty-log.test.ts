// Tests how log lines look on a terminal.
import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { renderLogLine } from './pretty-log.ts';

function render(write: (log: ReturnType<typeof createLogger>) => void, hasColours = false): string {
  let text = '';
  const output = {
    write: (line: string) => {
      text += renderLogLine(line, { hasColours });
    },
  };
  write(createLogger('info', output));
  return text;
}

const TIME = /^\d\d:\d\d:\d\d /;

test('a line has time, level, message and facts', () => {
  const text = render((log) =>
    log.info({ asset_id: '01a2', seconds: 12.4, heights: [720, 360] }, 'asset ready'),
  );
  expect(text).toMatch(TIME);
  expect(text.replace(TIME, '')).toBe('INFO  asset ready asset_id=01a2 seconds=12.4 heights=[720,360]\n');
});

test('a warning names the causes of its error, an error also shows the stack', () => {
  const err = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'E1' });
  const warning = render((log) => log.warn({ err }, 'it is slow'));
  expect(warning.replace(TIME, '')).toBe('WARN  it is slow \n  outer (E1): inner\n');
  expect(render((log) => log.error({ err }, 'it failed'))).toMatch(
    /ERROR it failed \n {2}Error: outer\n +at /,
  );
});

test('text of a file cannot control the terminal', () => {
  const text = render((log) => log.warn({ title: 'a\u001b[2Jb' }, 'said \u001b[2J\r\u202e'));
  for (const control of ['\u001b', '\r', '\u202e']) expect(text).not.toContain(control);
});

test('colours are optional, and other text is left alone', () => {
  const log = (hasColours: boolean) => render((logger) => logger.warn('slow'), hasColours);
  expect(log(true)).toContain('\u001b[33mWARN');
  expect(log(false)).not.toContain('\u001b');
  expect(renderLogLine('plain text\n', { hasColours: false })).toBe('plain text\n');
});
