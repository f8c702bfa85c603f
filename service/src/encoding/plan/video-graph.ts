// Builds the filter graph: converts frame rate and colour space, and scales to each rung.
import type { Rung, Size } from './ladder.ts';
import type { FrameFacts } from './source-facts.ts';
import type { Timeline } from './source-timeline.ts';

type VideoGraph = {
  readonly frame: FrameFacts;
  readonly videoIndex: number;
  readonly timeline: Timeline;
  readonly rungs: readonly Rung[];
};

/** The last frame is repeated longer than planned, so a variable frame rate cannot shorten the video. */
const SLACK_SECONDS = 1;

/** Each rung is scaled from the previous one, which is faster than scaling all from the source. */
export function buildVideoGraph({ frame, videoIndex, timeline, rungs }: VideoGraph): string {
  const [top, ...lower] = rungs as readonly [Rung, ...Rung[]];
  const chains = [top, ...lower].map((rung, index) => {
    const scaling = index === 0 ? topChain(frame, rung, timeline) : `[n${index}]${scale(rung)},setsar=1`;
    return index === lower.length ? `${scaling}[v${index}]` : `${scaling},split=2[v${index}][n${index + 1}]`;
  });
  return `[0:${videoIndex}]${chains.join(';')}`;
}

const scale = ({ width, height }: Size): string => `scale=${width}:${height}:flags=bicubic`;

function topChain(frame: FrameFacts, top: Rung, { frameRate, frames, holdSeconds }: Timeline): string {
  return [
    ...(frame.interlaced ? ['bwdif=deint=interlaced'] : []),
    `fps=${frameRate.numerator}/${frameRate.denominator}:start_time=0`,
    ...colours(frame, top),
    'setsar=1',
    'format=yuv420p',
    `tpad=stop_mode=clone:stop_duration=${holdSeconds + SLACK_SECONDS}`,
    `trim=end_frame=${frames}`,
  ].join(',');
}

/** Scales and converts to BT.709, which all players display alike. */
function colours(frame: FrameFacts, top: Rung): readonly string[] {
  if (frame.transfer === 'sdr')
    return [`${scale(top)}:in_color_matrix=${matrixOf(frame)}:out_color_matrix=bt709:out_range=tv`];
  const transfer = frame.transfer === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const range = frame.fullRange ? 'full' : 'limited';
  return [
    scale(top),
    `zscale=tin=${transfer}:min=2020_ncl:pin=2020:rin=${range}:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=709',
    'tonemap=hable:desat=0',
    'zscale=t=709:m=709:r=limited',
  ];
}

const MATRICES: Readonly<Record<string, string>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
  fcc: 'fcc',
  smpte240m: 'smpte240m',
};

/** Without a specified matrix, players choose it by the video size. */
const matrixOf = ({ matrix, displaySize }: FrameFacts): string =>
  MATRICES[matrix] ?? (Math.min(displaySize.width, displaySize.height) >= 720 ? 'bt709' : 'bt601');
