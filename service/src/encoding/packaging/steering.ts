// Content steering of HLS (RFC 8216bis, 7): players that started early move to all renditions, without a
// reload.

/** The tracks that exist while the run goes on. */
export const EARLY_PATHWAY = 'early';
/** The renditions that exist when the run has ended. */
export const FULL_PATHWAY = 'full';

export const STEERING_NAME = 'steering.json';
/** Beside the entry files, so that the address is the same for plain and encrypted segments. */
export const steeringUri = (folder: string): string => `steering-${folder}.json`;

export const steeringLine = (uri: string): string =>
  `#EXT-X-CONTENT-STEERING:SERVER-URI="${uri}",PATHWAY-ID="${EARLY_PATHWAY}"`;

export const pathwayAttribute = (id: string | undefined): string =>
  id === undefined ? '' : `,PATHWAY-ID="${id}"`;

/** Seconds until players ask again. */
const AWAITING_TTL = 2;
/** Nothing changes any more. */
const ENDED_TTL = 3600;

/** A pathway that does not exist yet is not named: players would use it after an error of the network. */
export const formatSteering = (isAwaiting: boolean): string =>
  JSON.stringify({
    VERSION: 1,
    TTL: isAwaiting ? AWAITING_TTL : ENDED_TTL,
    'PATHWAY-PRIORITY': isAwaiting ? [EARLY_PATHWAY] : [FULL_PATHWAY, EARLY_PATHWAY],
  });
