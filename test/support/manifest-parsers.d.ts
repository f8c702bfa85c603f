// The parts that tests use of two parsers without types of their own.
declare module 'm3u8-parser' {
  type HlsManifest = {
    readonly playlists: readonly {
      readonly uri: string;
      readonly attributes: Readonly<Record<string, unknown>>;
    }[];
    readonly mediaGroups: {
      readonly AUDIO: Readonly<Record<string, Readonly<Record<string, { uri: string }>>>>;
    };
    readonly segments: readonly {
      readonly uri: string;
      readonly duration: number;
      readonly map: { uri: string };
    }[];
    readonly endList?: boolean;
    readonly targetDuration?: number;
  };
  class Parser {
    push(text: string): void;
    end(): void;
    readonly manifest: HlsManifest;
  }
}

declare module 'mpd-parser' {
  type DashPlaylist = {
    readonly attributes: { readonly NAME: string; readonly CODECS: string; readonly BANDWIDTH: number };
    readonly segments: readonly { readonly resolvedUri: string; readonly duration: number }[];
  };
  function parse(
    manifest: string,
    options: { readonly manifestUri: string },
  ): {
    readonly duration: number;
    readonly playlists: readonly DashPlaylist[];
    readonly mediaGroups: {
      readonly AUDIO: Readonly<
        Record<string, Readonly<Record<string, { playlists: readonly DashPlaylist[] }>>>
      >;
    };
  };
}
