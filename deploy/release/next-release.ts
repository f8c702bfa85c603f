// What a release changes in the repository, as text: versions in manifests, and the changelog's heading.

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9a-z]+(?:\.[0-9a-z]+)*)?$/;
const HEADING = '## [Unreleased]\n';

type Release = { readonly version: string; readonly date: string };

/** Errors are sentences for people, here and below. */
export function checkVersion(version: string | undefined): string {
  if (version !== undefined && VERSION.test(version)) return version;
  throw new Error(`"${version ?? ''}" is no version. Use major.minor.patch, such as 1.2.3 or 2.0.0-rc.1.`);
}

/** Everything that is unreleased becomes the section of this release; a new, empty heading is above it. */
export function releaseChangelog(changelog: string, { version, date }: Release): string {
  if (changelog.includes(`\n## [${version}]`))
    throw new Error(`CHANGELOG.md has a section ${version}: it is released. Use a later version.`);
  if (!changelog.includes(HEADING)) throw new Error(`CHANGELOG.md has no heading "${HEADING.trim()}".`);
  const released = changelog.replace(HEADING, `${HEADING}\n## [${version}] - ${date}\n`);
  if (sectionOf(released, version) === '')
    throw new Error('CHANGELOG.md has nothing below [Unreleased]. Describe what users notice.');
  return released;
}

/** The lines below the heading of a version: what people read beside the packages. */
export function sectionOf(changelog: string, version: string): string {
  const [, after = ''] = changelog.split(`\n## [${version}]`);
  return after.slice(after.indexOf('\n')).split('\n## [')[0]?.trim() ?? '';
}

/** A package.json or package-lock.json with the version of all packages of the repository. */
export function setVersions(manifest: string, from: string, to: string): string {
  const own = JSON.parse(manifest) as Manifest;
  for (const [path, each] of Object.entries(own.packages ?? {}))
    if (!path.includes('node_modules/')) setVersion(each, from, to);
  setVersion(own, from, to);
  return `${JSON.stringify(own, undefined, 2)}\n`;
}

type Versions = Record<string, string>;
type Manifest = {
  version?: string;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly packages?: Record<string, Manifest>;
};

/** Packages of the repository depend on exactly each other's version. */
function setVersion(manifest: Manifest, from: string, to: string): void {
  if (manifest.version === from) manifest.version = to;
  for (const versions of [manifest.dependencies ?? {}, manifest.devDependencies ?? {}])
    for (const name of Object.keys(versions))
      if (name.startsWith('@mediary/') && versions[name] === from) versions[name] = to;
}
