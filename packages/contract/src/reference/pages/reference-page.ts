// What a page of the reference is about.

export type ReferencePage = {
  /** `docs/reference/<name>.md`. */
  readonly name: string;
  readonly title: string;
  /** One sentence, which starts the page. */
  readonly about: string;
  /** Below docs/, with the words of their links. */
  readonly links: Readonly<Record<string, string>>;
  readonly operations: readonly string[];
  /** Schemas whose members this page lists, although an earlier page returns them. */
  readonly objects?: readonly string[];
};
