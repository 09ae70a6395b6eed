// Gives the browser a file to save, from a page that has its bytes.
import { make } from './elements.ts';

/** The browser has begun to save long before; the bytes are then let go. */
const RELEASE_AFTER_MS = 60_000;

/** Saves the bytes under `name`, as the browser saves any download. */
export function saveFile(file: Blob, name: string): void {
  const link = make('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RELEASE_AFTER_MS);
}
