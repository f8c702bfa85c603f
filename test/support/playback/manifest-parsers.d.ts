// The parts that tests use of two manifest parsers without types of their own.
type ParsedSegment = {
  readonly uri: string;
  readonly resolvedUri: string;
  readonly duration: number;
  readonly map: { readonly uri: string };
};
type ParsedPlaylist = {
  readonly uri: string;
  readonly resolvedUri: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly segments: readonly ParsedSegment[];
};
type ParsedGroupMember = {
  readonly default: boolean;
  readonly autoselect: boolean;
  readonly language: string;
  readonly uri: string;
  readonly characteristics?: string;
  readonly playlists: readonly ParsedPlaylist[];
};
type ParsedGroups = Readonly<Record<string, Readonly<Record<string, ParsedGroupMember>>>>;
type ParsedManifest = {
  readonly mediaGroups: Readonly<Record<'AUDIO' | 'SUBTITLES', ParsedGroups>>;
  readonly playlists: readonly ParsedPlaylist[];
  readonly iFramePlaylists: readonly ParsedPlaylist[];
  readonly segments: readonly ParsedSegment[];
  readonly playlistType?: string;
  readonly endList?: boolean;
  readonly targetDuration: number;
  readonly duration: number;
  readonly start?: { readonly timeOffset: number };
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
