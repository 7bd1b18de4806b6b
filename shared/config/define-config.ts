import type { SettingsInput } from './settings.ts';

/** Types `muster.config.ts`; validation happens when a process starts. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}
