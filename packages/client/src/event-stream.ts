// Parses server-sent events (text/event-stream of the HTML standard).

export type ServerEvent = {
  readonly type: string;
  readonly data: string;
  /** The last id of the stream, which events without one repeat. */
  readonly id: string;
};

type EventParser = {
  /** Events that the text completes. Lines and line ends may be split anywhere. */
  push(text: string): ServerEvent[];
  /** The last id of the stream, also of a block without data. */
  readonly lastId: () => string;
};

/** Split where the rest of a line, or the second character of CRLF, may still arrive. */
const LINE_END = /\r\n|\n|\r(?!$)/;

export function createEventParser(): EventParser {
  let pending = '';
  let isFirst = true;
  let lastId = '';
  let pendingId = '';
  let type = '';
  let data: string[] = [];

  // A block that was cut off must not move the position.
  const dispatch = (): ServerEvent[] => {
    lastId = pendingId;
    const event = { type: type || 'message', data: data.join('\n'), id: lastId };
    const hasData = data.length > 0;
    type = '';
    data = [];
    return hasData ? [event] : [];
  };
  const setField = (name: string, value: string): void => {
    if (name === 'event') type = value;
    if (name === 'data') data.push(value);
    if (name === 'id' && !value.includes('\0')) pendingId = value;
  };
  const readLine = (line: string): ServerEvent[] => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    if (colon === -1) setField(line, '');
    else if (colon > 0) setField(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
    return [];
  };
  return {
    push: (text) => {
      pending += isFirst ? text.replace(/^\uFEFF/, '') : text;
      isFirst &&= text === '';
      const lines = pending.split(LINE_END);
      pending = lines.pop() ?? '';
      return lines.flatMap(readLine);
    },
    lastId: () => lastId,
  };
}
