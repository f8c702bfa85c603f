// Pages about playback.
import type { ReferencePage } from './reference-page.ts';

export const PLAYBACK_PAGES: readonly ReferencePage[] = [
  {
    name: 'playback',
    title: 'Playback',
    about: 'Playback URLs are what players and downloads need; they expire.',
    links: { Contract: 'contract/playback.md', Guide: 'guides/renditions.md' },
    operations: ['getPlayback', 'revokePlayback', 'getDownloadUrl', 'downloadOriginal'],
  },
  {
    name: 'captions',
    title: 'Captions',
    about: 'Captions are added to videos in any language, before or after encoding.',
    links: { Contract: 'contract/captions-and-chapters.md', Guide: 'guides/captions.md' },
    operations: ['listCaptions', 'putCaptions', 'getCaptions', 'deleteCaptions'],
  },
  {
    name: 'images',
    title: 'Images',
    about: 'An image, or the poster of a video, is rendered in the size and format of the URL.',
    links: { Contract: 'contract/images.md', Guide: 'guides/images.md' },
    operations: ['getImage', 'getPrivateImage', 'getImageSigningKey'],
  },
  {
    name: 'manifests',
    title: 'Manifests and thumbnails',
    about: 'Players request these files at the URLs that the API returns.',
    links: { Contract: 'contract/playback.md', Delivery: 'contract/delivery.md' },
    operations: [
      'getHlsManifest',
      'getDashManifest',
      'getThumbnail',
      'getPrivateHlsManifest',
      'getPrivateDashManifest',
      'getPrivateThumbnail',
    ],
  },
  {
    name: 'segments',
    title: 'Segments and keys',
    about: 'Manifests name these files, which players request.',
    links: { Delivery: 'contract/delivery.md', Encryption: 'contract/encrypted-segments.md' },
    operations: ['getSegment', 'getPrivateSegment', 'getEncryptedFile', 'getPrivateEncryptedFile'],
  },
  {
    name: 'video-files',
    title: 'Files of a video',
    about: 'A video has these files beside its stream: storyboard, preview, MP4, sound and frames.',
    links: { Contract: 'contract/video-files.md', Guide: 'guides/video-extras.md' },
    operations: ['getStoryboard', 'getPreview', 'getMp4', 'getAudioFile', 'getWaveform', 'getFrame'],
  },
  {
    name: 'private-video-files',
    title: 'Files of a private video',
    about: 'The files of a private video have a playback token in their paths.',
    links: { Contract: 'contract/video-files.md', Guide: 'guides/video-extras.md' },
    operations: [
      'getPrivateStoryboard',
      'getPrivatePreview',
      'getPrivateMp4',
      'getPrivateAudioFile',
      'getPrivateWaveform',
      'getPrivateFrame',
    ],
  },
  {
    name: 'embed',
    title: 'Embed',
    about: 'The embed page has a player for an `<iframe>`, and oEmbed describes it.',
    links: { Contract: 'contract/embed.md', Guide: 'guides/embed.md' },
    operations: [
      'getEmbed',
      'getPrivateEmbed',
      'getOembed',
      'getPlayerScript',
      'getHlsScript',
      'getElementFile',
    ],
  },
];
