// What a release changes: every version of the repository's own packages, and the heading of the changelog.
import { expect, test } from 'vitest';
import { checkVersion, releaseChangelog, sectionOf, setVersions } from './next-release.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- Clips.

## [0.1.0] - 2026-01-02

### Added

- Uploads.
`;
const RELEASE = { version: '0.2.0', date: '2026-03-04' };

test('what is unreleased becomes the section of the release', () => {
  const released = releaseChangelog(CHANGELOG, RELEASE);
  expect(released).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- Clips.\n');
  expect(sectionOf(released, '0.2.0')).toBe('### Added\n\n- Clips.');
  expect(sectionOf(released, '0.1.0')).toBe('### Added\n\n- Uploads.');
  expect(sectionOf(released, 'Unreleased')).toBe('');
});

test('a release needs changes, and a version of its own', () => {
  expect(() => releaseChangelog(CHANGELOG, { ...RELEASE, version: '0.1.0' })).toThrow('it is released');
  expect(() =>
    releaseChangelog(releaseChangelog(CHANGELOG, RELEASE), { ...RELEASE, version: '0.3.0' }),
  ).toThrow('nothing below [Unreleased]');
});

test.each(['1.2', 'v1.2.3', '1.2.3 ', '01', '', '1.2.3-'])('"%s" is no version', (version) => {
  expect(() => checkVersion(version)).toThrow('is no version');
});

test('own packages get the version, and no others', () => {
  const manifest = (version: string) => ({
    name: '@mediary/cli',
    version,
    dependencies: { '@mediary/client': version, commander: '0.1.0' },
    devDependencies: { '@mediary/checks': version },
  });
  const lock = (version: string) => ({
    version,
    packages: { '': manifest(version), 'node_modules/commander': { version: '0.1.0' } },
  });
  for (const file of [manifest, lock])
    expect(JSON.parse(setVersions(JSON.stringify(file('0.1.0')), '0.1.0', '0.2.0'))).toEqual(file('0.2.0'));
});
