// The icon of HTML pages. Without one, browsers request `/favicon.ico`, which does not exist.

const SVG =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>" +
  "<rect width='16' height='16' rx='4' fill='#2a6f97'/><path d='M6 4l6 4-6 4z' fill='#fff'/></svg>";

const ICON_URL = `data:image/svg+xml,${encodeURIComponent(SVG).replaceAll("'", '%27')}`;

/** For the head of a page whose policy allows `img-src data:`. */
export const PAGE_ICON = `<link rel="icon" href="${ICON_URL}">`;
