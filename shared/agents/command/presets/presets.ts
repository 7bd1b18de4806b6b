import type { CommandPreset } from '../../../config/index.ts';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex/codex.ts';
import { opencode } from './opencode.ts';
import type { Preset } from './preset.ts';

/** Every preset, by its name in a definition. */
export const PRESETS: Readonly<Record<CommandPreset, Preset>> = { 'claude-code': claudeCode, codex, opencode, aider };
