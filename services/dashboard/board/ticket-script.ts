import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The table of a ticket's buttons, under whatever name the script has it. */
const BUTTONS = /([\w$]+)=\{updateData:\{titleKey:"UPDATE_DATA"/;
const REFUSED = ['updateData', 'duplicate', 'reschedule', 'reprioritise', 'promote', 'removeChildren'];

export interface TicketScript {
  /** Its path below the folder of scripts. */
  name: string;
  text: string;
}

/**
 * The script of Bull Board that shows a ticket, without the buttons that change a ticket behind its task's back: Bull Board has no
 * setting for them. The names of its files differ from version to version.
 */
export function ticketScript(directory: string): TicketScript {
  const folder = join(directory, 'js', 'async');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const [, table] = BUTTONS.exec(text) ?? [];
    if (table !== undefined) return { name: `js/async/${file}`, text: withoutButtons(text, table) };
  }
  throw new Error('No script of @bull-board/ui has the buttons of a ticket; its layout has changed');
}

/** They stand in lists of which each ends with another button. */
function withoutButtons(text: string, table: string): string {
  return text.replaceAll(new RegExp(`(?<![\\w$])${RegExp.escape(table)}\\.(?:${REFUSED.join('|')}),`, 'g'), '');
}
