import encodeQR from 'qr';
import { byId, svg } from './dom.js';

/** The part of the browser's barcode reader that is used. Not every browser has it. */
interface BarcodeDetector {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

const { BarcodeDetector: Detector } = globalThis as {
  readonly BarcodeDetector?: new (options: { readonly formats: readonly string[] }) => BarcodeDetector;
};

/** Modules of white around a code. */
const BORDER = 4;

/**
 * Draws a line as a QR code, in capitals, which make it smaller.
 *
 * @returns the picture, or undefined if no code holds so much.
 */
export function drawQr(line: string, label: string): SVGElement | undefined {
  let modules;
  try {
    modules = encodeQR(line.toUpperCase(), 'raw', { ecc: 'low', border: BORDER });
  } catch {
    return undefined;
  }
  const path = modules.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  const size = modules.length;
  return svg(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, class: 'qr', 'shape-rendering': 'crispEdges' },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: path, fill: '#000' }),
  );
}

/** Whether this browser reads QR codes with a camera. */
export function canScan(): boolean {
  return Detector !== undefined && 'mediaDevices' in navigator;
}

/**
 * Reads a QR code with the camera.
 *
 * @returns its text, or undefined if the person cancels.
 */
export async function scanQr(): Promise<string | undefined> {
  const dialog = byId('scanner', HTMLDialogElement);
  const text = byId('scanner-text', HTMLParagraphElement);
  const video = dialog.querySelector('video');
  if (Detector === undefined || video === null) {
    return undefined;
  }
  text.textContent = 'Hold the other signer’s code into the picture.';
  dialog.showModal();
  let stream: MediaStream | undefined;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
    video.srcObject = stream;
    await video.play();
    const detector = new Detector({ formats: ['qr_code'] });
    while (dialog.open) {
      const [found] = await detector.detect(video);
      if (found !== undefined) {
        return found.rawValue;
      }
      await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
    }
    return undefined;
  } catch (error) {
    text.textContent = `The camera cannot be used (${error instanceof Error ? error.message : String(error)}). Paste the line instead.`;
    await new Promise((resolve) => {
      dialog.addEventListener('close', resolve, { once: true });
    });
    return undefined;
  } finally {
    stream?.getTracks().forEach((track) => {
      track.stop();
    });
    video.srcObject = null;
    dialog.close();
  }
}
