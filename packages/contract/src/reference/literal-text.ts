// Renders values as TypeScript and as JSON, in lines that fit on a page.

const COLUMNS = 90;

const QUOTED: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\n': '\\n' };
const quote = (text: string): string => `'${text.replace(/[\\'\n]/g, (each) => QUOTED[each] ?? each)}'`;

/** A TypeScript literal as the formatter writes it, in one line if it fits. */
export const renderLiteral = (value: unknown): string =>
  renderValue(value, {
    indent: '',
    text: quote,
    name: (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : quote(name)),
    isTrailing: true,
  });

/** JSON whose short objects and arrays are one line each. */
export const renderJson = (value: unknown): string =>
  renderValue(value, {
    indent: '',
    text: (text) => JSON.stringify(text),
    name: (name) => JSON.stringify(name),
    isTrailing: false,
  });

type Style = {
  readonly indent: string;
  readonly text: (text: string) => string;
  readonly name: (name: string) => string;
  /** Whether the last member of several lines ends with a comma. */
  readonly isTrailing: boolean;
};

function renderValue(value: unknown, style: Style): string {
  if (typeof value === 'string') return style.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = { ...style, indent: `${style.indent}  ` };
  const isArray = Array.isArray(value);
  const parts = isArray
    ? value.map((item) => renderValue(item, inner))
    : Object.entries(value).map(([name, member]) => `${style.name(name)}: ${renderValue(member, inner)}`);
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const pad = isArray ? '' : ' ';
  const line = `${open}${pad}${parts.join(', ')}${pad}${close}`;
  const isShort = style.indent.length + line.length <= COLUMNS && !line.includes('\n');
  // The whole response stands in lines of its own, member by member.
  if (isShort && !(style.indent === '' && !style.isTrailing && parts.length > 3)) return line;
  const end = style.isTrailing ? ',' : '';
  return `${open}\n${parts.map((part) => inner.indent + part).join(',\n')}${end}\n${style.indent}${close}`;
}
