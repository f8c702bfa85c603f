// The command palette: screens, assets and actions by keyboard, with Ctrl+K or Cmd+K.
import '@mantine/spotlight/styles.css';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import type { Asset } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { foundAssetsQuery } from '../api/assets.ts';
import { useSignOut } from '../api/session.ts';
import { Icon, type IconName } from '../parts/icon.tsx';

type PaletteProps = {
  readonly session: ConsoleSession;
  readonly places: readonly { readonly href: string; readonly label: string; readonly icon: IconName }[];
};

const SEARCH_AFTER_MS = 200;
const MAX_ASSETS = 8;

export function Palette({ session, places }: PaletteProps) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const assets = useFoundAssets(session, text);
  const commands = useCommands();
  const input = useRef<HTMLInputElement>(null);
  useFirstSelected(input, assets);
  const screens = places.map(({ href, label, icon }) => ({
    id: href,
    label,
    leftSection: <Icon name={icon} />,
    onClick: () => navigate(href),
  }));
  const found = assets.map(({ id, label, description }) => ({
    id,
    label,
    description,
    // The service has matched them.
    keywords: text,
    leftSection: <Icon name="photo" />,
    onClick: () => navigate(`/assets/${id}`),
  }));
  return (
    <Spotlight
      actions={[
        { group: 'Screens', actions: screens },
        { group: 'Assets', actions: found },
        { group: 'Commands', actions: commands },
      ]}
      query={text}
      onQueryChange={setText}
      searchProps={{
        ref: input,
        leftSection: <Icon name="search" />,
        placeholder: 'A screen, or the title, file name or id of an asset',
        'aria-label': 'Search screens and assets',
      }}
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
      nothingFound="Nothing matches"
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      maxHeight="70vh"
    />
  );
}

function useCommands(): SpotlightActionData[] {
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return [
    {
      id: 'colours',
      label: isDark ? 'Light colours' : 'Dark colours',
      keywords: 'theme colors dark light',
      leftSection: <Icon name={isDark ? 'sun' : 'moon'} />,
      onClick: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      keywords: 'log out leave',
      leftSection: <Icon name="signOut" />,
      onClick: () => signOut.mutate(),
    },
  ];
}

/** Spotlight selects the first action when people type, but not when assets arrive later. */
function useFirstSelected(input: RefObject<HTMLInputElement | null>, assets: readonly Found[]): void {
  const shown = assets.map(({ id }) => id).join();
  useEffect(() => {
    if (shown === '' || document.querySelector('[data-action][data-selected]')) return;
    input.current?.dispatchEvent(new KeyboardEvent('keydown', { code: 'ArrowDown', bubbles: true }));
  }, [shown, input]);
}

type Found = { readonly id: string; readonly label: string; readonly description: string };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of the owners that the session may see; an id leads to the page of its asset. */
function useFoundAssets(session: ConsoleSession, text: string): Found[] {
  const wanted = text.trim();
  const [searched] = useDebouncedValue(wanted, SEARCH_AFTER_MS);
  const isId = UUID.test(wanted);
  const { data } = useQuery({
    ...foundAssetsQuery(session, searched, MAX_ASSETS),
    enabled: searched !== '' && !isId,
  });
  if (isId) return [{ id: wanted.toLowerCase(), label: 'Open the asset', description: wanted }];
  if (searched === '' || searched !== wanted) return [];
  return (data?.items ?? []).map(describeAsset);
}

const describeAsset = ({ id, title, filename, owner_user_id: owner }: Asset): Found => ({
  id,
  label: title ?? filename,
  description: title === null ? owner : `${filename} · ${owner}`,
});
