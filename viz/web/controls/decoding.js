// Recordings of any format that the browser plays, as WAV files.

const HEADER = 44; // bytes

/**
 * A WAV file as it is; a recording of another format as a WAV file of one channel.
 *
 * @param {File} file
 * @param {number} rate samples a second of what is decoded
 * @returns {Promise<File | null>} null for one that the browser cannot decode
 */
export async function asWav(file, rate) {
  const bytes = await file.arrayBuffer();
  if (isWav(new Uint8Array(bytes))) return file;
  try {
    const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes);
    const channels = Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i));
    return new File([wavOf(mixed(channels), rate)], file.name, { type: "audio/wav" });
  } catch {
    return null;
  }
}

/**
 * Whether a file begins as WAV files do.
 *
 * @param {Uint8Array} bytes
 */
export function isWav(bytes) {
  const text = String.fromCharCode(...bytes.subarray(0, 12));
  return (text.startsWith("RIFF") || text.startsWith("RIFX")) && text.endsWith("WAVE");
}

/**
 * The mean of channels.
 *
 * @param {Float32Array[]} channels
 */
export function mixed(channels) {
  const mean = new Float32Array(channels[0]?.length ?? 0);
  for (const channel of channels) channel.forEach((value, i) => (mean[i] += value / channels.length));
  return mean;
}

/**
 * A WAV file of 16-bit samples.
 *
 * @param {Float32Array} samples from −1 to 1
 * @param {number} rate
 */
export function wavOf(samples, rate) {
  const bytes = new DataView(new ArrayBuffer(HEADER + 2 * samples.length));
  /** @type {(at: number, text: string) => void} */
  const write = (at, text) => [...text].forEach((letter, i) => bytes.setUint8(at + i, letter.charCodeAt(0)));
  write(0, "RIFF");
  bytes.setUint32(4, HEADER - 8 + 2 * samples.length, true);
  write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, 2 * rate, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  write(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, i) => {
    const inside = Math.min(1, Math.max(-1, value));
    bytes.setInt16(HEADER + 2 * i, Math.round(inside * 32767), true);
  });
  return bytes.buffer;
}
