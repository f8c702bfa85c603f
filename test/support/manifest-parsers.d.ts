// Types of the manifest parsers that tests compare with; the packages have none.
type MediaGroupMember = {
  readonly default: boolean;
  readonly autoselect: boolean;
  readonly language: string;
  readonly uri?: string;
  readonly characteristics?: string;
};
type MediaGroups = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, MediaGroupMember>>>>>
>;
type ParsedManifest = {
  readonly mediaGroups: MediaGroups;
  readonly playlists: readonly {
    readonly uri: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
};

declare module 'm3u8-parser' {
  class Parser {
    readonly manifest: ParsedManifest;
    push(text: string): void;
    end(): void;
  }
}

declare module 'mpd-parser' {
  function parse(text: string, options: { readonly manifestUri: string }): ParsedManifest;
}
