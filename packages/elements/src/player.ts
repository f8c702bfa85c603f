// Defines <mediary-player>.
import { LitElement } from 'lit';

class MediaryPlayer extends LitElement {}

if (!customElements.get('mediary-player')) customElements.define('mediary-player', MediaryPlayer);
