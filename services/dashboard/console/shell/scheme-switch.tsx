import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useEffect, type ReactElement } from 'react';
import { SCHEME_COOKIE } from '../../scheme-cookie.ts';
import { Icon, type IconName } from '../parts/icon.tsx';

const SCHEMES: readonly { scheme: MantineColorScheme; text: string; icon: IconName }[] = [
  { scheme: 'auto', text: 'As the system', icon: 'system' },
  { scheme: 'light', text: 'Light', icon: 'sun' },
  { scheme: 'dark', text: 'Dark', icon: 'moon' },
];

const YEAR_S = 31_536_000;

/** Light or dark, stored in this browser and, for the pages of the server, in a cookie. */
export function SchemeSwitch(): ReactElement {
  // Suspending transitions would write a <style> element, which the content policy refuses.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  useEffect(() => {
    document.cookie = `${SCHEME_COOKIE}=${colorScheme}; path=/; max-age=${colorScheme === 'auto' ? 0 : YEAR_S}; samesite=lax`;
  }, [colorScheme]);
  const icon = SCHEMES.find(({ scheme }) => scheme === colorScheme)?.icon ?? 'system';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Colours">
          <Icon name={icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(picked) => setColorScheme(schemeOf(picked))}>
          {SCHEMES.map((each) => (
            <Menu.RadioItem key={each.scheme} value={each.scheme} closeMenuOnClick>
              {each.text}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

function schemeOf(name: string): MantineColorScheme {
  return SCHEMES.find(({ scheme }) => scheme === name)?.scheme ?? 'auto';
}
