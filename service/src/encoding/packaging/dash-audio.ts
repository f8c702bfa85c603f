// The audio adaptation sets of DASH manifests: one for each encoded track.
import { escapeXml } from '../../assets/markup.ts';
import type { AudioPurpose } from '../model/audio-track.ts';
import type { SoundTrack } from '../model/cmaf-track.ts';

/** Attributes and descriptors of the set of one track. */
export function describeAudioSet({ audio: { track, channels } }: SoundTrack): {
  readonly attributes: string;
  readonly descriptors: readonly string[];
} {
  const language = track.language === null ? '' : `lang="${track.language}" `;
  // dash.js starts with the set of the highest priority.
  const priority = track.isDefault && channels === 2 ? 'selectionPriority="2" ' : '';
  const accessibility = ACCESSIBILITY[track.purpose];
  const role = track.isDefault ? 'main' : ROLES[track.purpose];
  return {
    attributes: `${language}${priority}`,
    descriptors: [
      `<Label>${escapeXml(track.name)}</Label>`,
      ...(accessibility
        ? [`<Accessibility schemeIdUri="urn:tva:metadata:cs:AudioPurposeCS:2007" value="${accessibility}"/>`]
        : []),
      `<Role schemeIdUri="urn:mpeg:dash:role:2011" value="${role}"/>`,
    ],
  };
}

/** ISO/IEC 23009-1, 5.8.5.5. */
const ROLES: Readonly<Record<AudioPurpose, string>> = {
  main: 'alternate',
  commentary: 'commentary',
  description: 'description',
  clear_speech: 'enhanced-audio-intelligibility',
};

/** TV-Anytime: for the visually impaired, for the hard of hearing. */
const ACCESSIBILITY: Readonly<Partial<Record<AudioPurpose, string>>> = {
  description: '1',
  clear_speech: '2',
};
