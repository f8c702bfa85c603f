// The default theme with the fonts of the system, the colour of the console, and a link to the API reference.
import { useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './site.css';

/** A page of the service beside the site, which the router of the site does not know. */
const ReferenceLink = () => {
  const { site } = useData();
  const href = site.value.base.replace(/guides\/$/, '');
  return h('a', { class: 'reference-link', href, target: '_self' }, 'API reference');
};

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': () => h(ReferenceLink),
      'nav-screen-content-after': () => h(ReferenceLink),
    }),
};
