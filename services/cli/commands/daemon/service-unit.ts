import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DaemonFlags } from './daemon.ts';

export const SERVICE_KINDS = ['systemd', 'launchd'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

interface ServiceOptions {
  readonly words: readonly string[];
  readonly flags: DaemonFlags;
  readonly hub: string;
  /** Where programs are found. */
  readonly path: string;
}

const MUSTER = fileURLToPath(new URL('../../../local/muster.mjs', import.meta.url));
const LABEL = 'dev.muster.daemon';

/**
 * A unit that runs the same daemon as a service of this user. The token is never in it: it comes from a file. Its commands are found where they
 * are found now: a service has a short PATH of its own.
 */
export function serviceUnit(kind: ServiceKind, options: ServiceOptions): string {
  const args = [process.execPath, MUSTER, 'daemon', ...serviceArguments(options)];
  return kind === 'systemd' ? systemdUnit(args, options.path) : launchdUnit(args, options.path);
}

/** Where the unit reads the token. */
export function serviceTokenFile({ tokenFile }: DaemonFlags): string {
  return resolve(tokenFile ?? 'muster-daemon.token');
}

function serviceArguments({ words, flags, hub }: ServiceOptions): string[] {
  const { name, capabilities, slots, agent = {}, preset, askPermissions, cwd, passEnv, takesInput, dataDir } = flags;
  const options: [string, string | undefined][] = [
    ['--hub', hub],
    ['--token-file', serviceTokenFile(flags)],
    ['--name', name],
    ['--capabilities', capabilities?.join(',')],
    ['--slots', String(slots)],
    ...Object.entries(agent).map(([each, command]): [string, string] => ['--agent', `${each}=${command}`]),
    ['--preset', preset],
    ['--cwd', cwd === undefined ? undefined : resolve(cwd)],
    ['--pass-env', passEnv?.join(',')],
    ['--data-dir', dataDir === undefined ? undefined : resolve(dataDir)],
  ];
  return [
    ...options.flatMap(([option, value]) => (value === undefined ? [] : [option, value])),
    ...(takesInput === true ? ['--takes-input'] : []),
    ...(askPermissions === true ? ['--ask-permissions'] : []),
    ...(words.length === 0 ? [] : ['--', ...words]),
  ];
}

/** Paths and percent signs mean something in a unit. */
function quoteForSystemd(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

/** In a command dollars do, too. */
function quoteArgument(word: string): string {
  return quoteForSystemd(word).replaceAll('$', '$$$$');
}

function systemdUnit(args: readonly string[], path: string): string {
  return `# ~/.config/systemd/user/muster-daemon.service
# Then: systemctl --user daemon-reload && systemctl --user enable --now muster-daemon
# To run while nobody is signed in: loginctl enable-linger
[Unit]
Description=Muster daemon: runs tasks of the fleet on this machine
Wants=network-online.target
After=network-online.target

[Service]
Environment=${quoteForSystemd(`PATH=${path}`)}
ExecStart=${args.map(quoteArgument).join(' ')}
Restart=always
RestartSec=5
# A wrong token, address or option stays wrong.
RestartPreventExitStatus=2
# SIGTERM drains: running tasks end first, for so long.
KillMode=mixed
TimeoutStopSec=600

[Install]
WantedBy=default.target
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function launchdUnit(args: readonly string[], path: string): string {
  // Others on the machine can read and pre-create files in /tmp, and launchd expands no `~`.
  const log = join(homedir(), 'Library/Logs/muster-daemon.log');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ~/Library/LaunchAgents/${LABEL}.plist, then: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${LABEL}.plist -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${args.map((arg) => `    <string>${escapeXml(arg)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${escapeXml(path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <!-- SIGTERM drains: running tasks end first, for so many seconds. -->
  <key>ExitTimeOut</key>
  <integer>600</integer>
  <key>StandardErrorPath</key>
  <string>${escapeXml(log)}</string>
</dict>
</plist>
`;
}
