// A grid of characters on the screen, and its text as WebVTT.

export type Pen = { readonly isItalic: boolean; readonly isUnderlined: boolean };
type Cell = Pen & { readonly character: string };
/** `text` is rendered when it is needed, once for each change of the row. */
type Row = { readonly cells: readonly (Cell | undefined)[]; text?: string };

export const PLAIN_PEN: Pen = { isItalic: false, isUnderlined: false };

export type CaptionScreen = {
  readonly rows: number;
  readonly columns: number;
  readonly write: (row: number, column: number, cell: Cell) => void;
  /** Deletes the cells of a row from a column on. */
  readonly deleteFrom: (row: number, column: number) => void;
  readonly clear: () => void;
  /** Moves each row of a range up by one; the last becomes empty. */
  readonly scroll: (first: number, last: number) => void;
  /** Keeps the rows of a range, moved by a number of rows, and deletes all others. */
  readonly keepRows: (first: number, last: number, offset?: number) => void;
  readonly isEmpty: () => boolean;
  /** Rows that have visible characters, from top to bottom. */
  readonly filledRows: () => readonly FilledRow[];
};

type FilledRow = { readonly row: number; readonly text: string };

/** Writing outside of the grid has no effect. */
export function createScreen(rows: number, columns: number): CaptionScreen {
  let grid = emptyGrid(rows);
  const filledRows = (): FilledRow[] =>
    grid.flatMap((content, row) => {
      content.text ??= renderRow(content.cells);
      return content.text === '' ? [] : [{ row, text: content.text }];
    });
  return {
    rows,
    columns,
    write: (row, column, cell) => {
      const cells = grid[row]?.cells.slice();
      if (!cells || column < 0 || column >= columns) return;
      while (cells.length < column) cells.push(undefined);
      cells[column] = cell;
      grid[row] = { cells };
    },
    deleteFrom: (row, column) => {
      const content = grid[row];
      if (content) grid[row] = { cells: content.cells.slice(0, Math.max(0, column)) };
    },
    clear: () => {
      grid = emptyGrid(rows);
    },
    scroll: (first, last) => {
      grid.splice(last + 1, 0, emptyRow());
      grid.splice(first, 1);
    },
    keepRows: (first, last, offset = 0) => {
      grid = grid.map((_, row) => {
        const from = row - offset;
        return (from >= first && from <= last && grid[from]) || emptyRow();
      });
    },
    isEmpty: () => filledRows().length === 0,
    filledRows,
  };
}

const emptyRow = (): Row => ({ cells: [] });

const emptyGrid = (rows: number): Row[] => Array.from({ length: rows }, emptyRow);

const TAGS = [
  ['isItalic', 'i'],
  ['isUnderlined', 'u'],
] as const;

/** Cells without a character are transparent: within a row, they are spaces. */
function renderRow(cells: Row['cells']): string {
  const runs: { pen: Pen; text: string }[] = [];
  for (const cell of cells) {
    const { character, ...pen } = cell ?? { character: ' ', ...(runs.at(-1)?.pen ?? PLAIN_PEN) };
    const run = runs.at(-1);
    if (run && isSamePen(run.pen, pen)) run.text += character;
    else runs.push({ pen, text: character });
  }
  const text = runs.map(({ text: part }) => part).join('');
  if (text.trim() === '') return '';
  return runs.map(renderRun).join('').replace(/ +/g, ' ').trim();
}

const isSamePen = (a: Pen, b: Pen): boolean => a.isItalic === b.isItalic && a.isUnderlined === b.isUnderlined;

/** Spaces stay outside of the tags. */
function renderRun({ pen, text }: { readonly pen: Pen; readonly text: string }): string {
  const core = text.trim();
  if (core === '') return text;
  const tags = TAGS.filter(([property]) => pen[property]).map(([, tag]) => tag);
  const marked = tags.reduceRight((inner, tag) => `<${tag}>${inner}</${tag}>`, escapeText(core));
  const [before = ''] = /^ */.exec(text) ?? [];
  const [after = ''] = / *$/.exec(text) ?? [];
  return `${before}${marked}${after}`;
}

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
