// The frame of every screen: navigation, who is signed in, colours.
import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { SERVICE_URL } from '../api/mediary.ts';
import { useSignOut } from '../api/session.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Brand } from './brand.tsx';
import { Palette } from './palette.tsx';

type Place = {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  readonly isFor: (kind: ConsoleSession['kind']) => boolean;
};

const all = () => true;
const operators: Place['isFor'] = (kind) => kind === 'operator';

const PLACES: readonly Place[] = [
  { href: '/', label: 'Start', icon: 'home', isFor: all },
  { href: '/library', label: 'Library', icon: 'photo', isFor: all },
  { href: '/collections', label: 'Collections', icon: 'collection', isFor: all },
  { href: '/upload', label: 'Upload', icon: 'upload', isFor: all },
  { href: '/webhooks', label: 'Webhooks', icon: 'webhook', isFor: (kind) => kind !== 'user' },
  { href: '/work', label: 'Work', icon: 'work', isFor: operators },
  { href: '/health', label: 'Health', icon: 'health', isFor: operators },
  { href: '/owners', label: 'Owners', icon: 'owners', isFor: operators },
  { href: '/keys', label: 'Service keys', icon: 'key', isFor: operators },
];

type ShellProps = { readonly session: ConsoleSession; readonly children: ReactNode };

export function Shell({ session, children }: ShellProps) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [place] = useLocation();
  const places = PLACES.filter(({ isFor }) => isFor(session.kind));
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Brand />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label="Search and commands"
              onClick={spotlight.open}
            >
              <Icon name="search" />
            </ActionIcon>
            <ColorSwitch />
            <Person session={session} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Screens">
        {places.map((target) => (
          <PlaceLink key={target.href} place={target} current={place} onFollow={close} />
        ))}
        <Box mt="auto">
          <NavLink
            href={`${SERVICE_URL}/docs`}
            label="API reference"
            leftSection={<Icon name="book" />}
            target="_blank"
          />
        </Box>
      </AppShell.Navbar>
      <AppShell.Main>{children}</AppShell.Main>
      <Palette session={session} places={places} />
    </AppShell>
  );
}

type LinkProps = { readonly place: Place; readonly current: string; readonly onFollow: () => void };

function PlaceLink({ place: { href, label, icon }, current, onFollow }: LinkProps) {
  const isHere = href === '/' ? current === '/' : current.startsWith(href);
  return (
    <NavLink
      component={Link}
      href={href}
      label={label}
      leftSection={<Icon name={icon} />}
      active={isHere}
      onClick={onFollow}
      aria-current={isHere ? 'page' : undefined}
    />
  );
}

function ColorSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}

const NAMES = { operator: 'Operator', service: 'Service', user: 'User' } as const;

function Person({ session }: { readonly session: ConsoleSession }) {
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Who is signed in">
          <Icon name="owners" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as {NAMES[session.kind].toLowerCase()}
          {session.owner_user_id !== null && (
            <Text size="xs" truncate maw={200}>
              {session.owner_user_id}
            </Text>
          )}
        </Menu.Label>
        <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
