// The embed page: titles cannot inject markup, private videos have no preview, and the policy is narrow.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type EmbedPage, renderEmbedPage, renderPagePolicy } from './embed-page.ts';

const PREVIEW = {
  url: 'https://media.example.com/api/v1/playback/1/embed',
  thumbnail: 'https://media.example.com/api/v1/playback/1/thumb.jpg',
  oembed: 'https://media.example.com/api/v1/oembed?format=json&url=x',
  size: { width: 640, height: 360 },
};
const render = (fields: Partial<EmbedPage> = {}): string =>
  renderEmbedPage({
    title: 'Launch',
    hls: './hls.m3u8',
    poster: './thumb.jpg',
    icon: '<link rel="icon" href="data:,">',
    scriptFolder: '../',
    storyboard: './storyboard.vtt',
    chapters: './chapters.vtt?v=1',
    placeholder: 'YTkGJwaRhWUIt4lbgnhZl3ath2BUBGYA',
    scriptVersions: { player: 'p1', hls: 'h1', elements: 'e1' },
    preview: PREVIEW,
    ...fields,
  });

/** With the package of web components, and without it. */
const PAGES = {
  player: {},
  plain: { scriptVersions: { player: 'p1', hls: 'h1', elements: undefined } },
};

describe.each(Object.entries(PAGES))('the page (%s)', (name, fields) => {
  test.each(['</title><script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' autofocus &lt;"])(
    'shows the title %j as text',
    (title) => {
      const html = render({ title, ...fields });
      expect(html).not.toContain(title);
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html).not.toContain('<img');
      // Escaped values have no quotes or brackets, so that each tag is of a known form.
      const tags = [...html.matchAll(/<(?:meta|link)\b[^<>]*>/g)].map(([tag]) => tag);
      for (const tag of tags) expect(tag).toMatch(/^<\w+(?: [\w-]+="[^"<>']*")+>$/);
    },
  );

  test('has no script or event handler of its own', () => {
    const html = render(fields);
    expect(html).toContain(
      name === 'plain'
        ? '<script src="../player.js?v=p1"></script>'
        : '<script type="module" src="../elements/e1/player.js"></script>',
    );
    expect(html).not.toMatch(/ on\w+=|javascript:/i);
  });

  test('has tags for link previews of public videos only', () => {
    expect(render()).toContain(`<meta property="og:video" content="${PREVIEW.url}">`);
    expect(render()).toContain('<meta name="twitter:player:width" content="640">');
    expect(render()).toContain('<link rel="alternate" type="application/json+oembed"');
    expect(render({ preview: undefined })).not.toMatch(/og:|twitter:|oembed/);
  });

  test('has a poster only if one exists', () => {
    expect(render(fields)).toContain('poster="./thumb.jpg"');
    expect(render({ poster: null, ...fields })).not.toContain('poster');
  });
});

describe('the policy', () => {
  const directivesOf = (mediaSources: readonly string[]): Map<string, string> =>
    new Map(
      renderPagePolicy({ mediaSources, frameAncestors: 'https://a.example', allowedSites: undefined })
        .split('; ')
        .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );

  test('allows the service alone, and the style by its hash', () => {
    const [, style = ''] = /<style>(.*)<\/style>/.exec(render()) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = directivesOf([]);
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toBe("'self'");
    expect(policy.get('style-src')).toBe(`'sha256-${hash}'`);
    expect(policy.get('media-src')).toBe("'self' blob: data:");
    expect(policy.get('connect-src')).toBe("'self'");
    expect(policy.get('img-src')).toBe("'self' data:");
    expect(policy.get('frame-ancestors')).toBe('https://a.example');
  });

  test('begins with the pages that may embed it, so that no later directive overrides them', () => {
    const policy = renderPagePolicy({
      mediaSources: [],
      frameAncestors: 'https://a.example',
      allowedSites: undefined,
    });
    expect(policy).toMatch(/^frame-ancestors https:\/\/a\.example; /);
  });

  test('of an asset for some sites follows that of the operator, so that browsers apply both', () => {
    const policy = renderPagePolicy({
      mediaSources: [],
      frameAncestors: 'https://a.example',
      allowedSites: ['www.example.com', '*.example.org:8443'],
    });
    expect(policy).toMatch(/^frame-ancestors https:\/\/a\.example; /);
    expect(policy.split(', ').slice(1)).toEqual([
      "frame-ancestors 'self' http://www.example.com http://*.example.org:8443",
    ]);
  });

  test('adds the origins of CDN and store to media, never to scripts', () => {
    const policy = directivesOf(['https://cdn.example', 'https://cdn.example', 'https://s3.example']);
    expect(policy.get('connect-src')).toBe("'self' https://cdn.example https://s3.example");
    expect(policy.get('img-src')).toContain('https://cdn.example');
    expect(policy.get('script-src')).toBe("'self'");
  });
});
