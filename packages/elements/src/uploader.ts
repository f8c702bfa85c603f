// Defines <mediary-uploader>.
import { MediaryUploader } from './uploader/element.ts';
import type { UploadEvent, UploadEventDetail, UploadEventMap } from './uploader/uploader-events.ts';
import type { UploaderTexts } from './uploader/texts.ts';

export { MediaryUploader, type UploadEvent, type UploadEventDetail, type UploadEventMap, type UploaderTexts };

declare global {
  interface HTMLElementTagNameMap {
    'mediary-uploader': MediaryUploader;
  }
  interface HTMLElementEventMap extends UploadEventMap {}
}

if (!customElements.get('mediary-uploader')) customElements.define('mediary-uploader', MediaryUploader);
